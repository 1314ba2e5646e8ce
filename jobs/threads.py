"""Calls that may hang: neither a signal nor a time limit reaches them, so each has a thread of its own."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def call_within(seconds: float, call: Callable[[], T]) -> T:
    """Its result or its exception; TimeoutError after so long, while the call continues in its thread."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except Exception as error:
            future.set_exception(error)  # raised again by the caller

    threading.Thread(target=run, name="call", daemon=True).start()
    try:
        return future.result(seconds)
    except TimeoutError:
        if future.done():
            raise
        raise TimeoutError(f"no answer within {seconds:g} s") from None
