"""Runs functions in threads with connections of their own, which are closed afterwards."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier
from typing import Any, TypeVar

from django.db import connection

T = TypeVar("T")
PATIENCE = 30


def start_thread(work: Callable[[], T]) -> "Future[T]":
    """Starts the work in a thread; `.result(timeout)` returns its result."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(_closing, work)
    pool.shutdown(wait=False)
    return future


def in_thread(work: Callable[[], T]) -> T:
    return start_thread(work).result(PATIENCE)


def all_at_once(work: Callable[[int], T], count: int) -> list[T]:
    """Runs the work in `count` threads, which are released together."""
    barrier = Barrier(count)

    def run(number: int) -> T:
        barrier.wait(PATIENCE)
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(_closing, lambda n=number: run(n)) for number in range(count)]
        return [future.result(PATIENCE) for future in futures]


def _closing(work: Callable[..., Any]) -> Any:
    try:
        return work()
    finally:
        connection.close()
