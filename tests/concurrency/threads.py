"""Runs functions in threads with connections of their own, which are closed afterwards."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier
from typing import Any, TypeVar

from django.db import connection

T = TypeVar("T")
PATIENCE = 60


def start_thread(work: Callable[[], T]) -> "Future[T]":
    """Starts the work in a thread; `.result(timeout)` returns its result."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(_closing, work)
    pool.shutdown(wait=False)
    return future


def wait_until_blocked(future: "Future[Any]") -> None:
    """Waits until a session waits for a lock of this one; fails if the thread's work ends first."""
    until = time.monotonic() + PATIENCE
    while not _blocks_a_session():
        assert not future.done(), "the thread did not wait"
        assert time.monotonic() < until, "no session waits for a lock"
        time.sleep(0.01)


def _blocks_a_session() -> bool:
    # pg_locks knows the whole server, where tests of other processes wait for locks of their own.
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks"
            " WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
        )
        return bool(cursor.fetchone()[0])


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


def race(*functions: Callable[[], Any]) -> list[Any]:
    """Runs each function in its own thread, all released together."""
    return all_at_once(lambda number: functions[number](), len(functions))


def _closing(work: Callable[..., Any]) -> Any:
    try:
        return work()
    finally:
        connection.close()
