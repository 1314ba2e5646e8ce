"""The events of a worker that Flower would see."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from celery import current_app

from tests.workers import eventually


@contextmanager
def task_events(worker: str) -> Iterator[list[tuple[str, str]]]:
    """The events that Flower would see, as (type, message id)."""
    seen: list[tuple[str, str]] = []
    stop, is_listening = threading.Event(), threading.Event()

    def note(event: dict[str, Any]) -> None:
        if event["hostname"] == worker:
            is_listening.set()
        if event["type"].startswith("task-"):
            seen.append((event["type"], event["uuid"]))

    def is_enabled() -> bool:
        """What is sent before this process listens is lost, and an answer may be late."""
        current_app.control.heartbeat(destination=[worker])
        return is_listening.wait(0.2) and bool(
            current_app.control.enable_events(destination=[worker], reply=True)
        )

    receiver = current_app.events.Receiver(current_app.connection_for_read(), handlers={"*": note})
    with receiver.consumer_context(wakeup=False) as (connection, _, _consumers):
        thread = threading.Thread(target=lambda: drain(connection, stop))
        thread.start()
        try:
            eventually(is_enabled, what=f"the events of {worker}")
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
