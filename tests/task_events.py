"""The events of a worker that Flower would see."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from celery import current_app


@contextmanager
def task_events(worker: str) -> Iterator[list[tuple[str, str]]]:
    """The events that Flower would see, as (type, message id)."""
    seen: list[tuple[str, str]] = []
    current_app.control.enable_events(destination=[worker], reply=True)
    stop = threading.Event()

    def note(event: dict[str, Any]) -> None:
        if event["type"].startswith("task-"):
            seen.append((event["type"], event["uuid"]))

    receiver = current_app.events.Receiver(current_app.connection_for_read(), handlers={"*": note})
    with receiver.consumer_context(wakeup=False) as (connection, _, _consumers):
        thread = threading.Thread(target=lambda: drain(connection, stop))
        thread.start()
        try:
            yield seen
        finally:
            stop.set()
            thread.join(10)
            current_app.control.disable_events(destination=[worker], reply=True)


def drain(connection: Any, stop: threading.Event) -> None:
    while not stop.is_set():
        try:
            connection.drain_events(timeout=0.2)
        except TimeoutError:
            continue
