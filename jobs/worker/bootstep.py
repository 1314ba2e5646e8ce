"""Starts the heart with the worker."""

from typing import Any

from celery import bootsteps, signals

# How often the pool looks for processes that have ended.
LOOK_SECONDS = 0.5


@signals.worker_shutdown.connect  # type: ignore[untyped-decorator]
def forget(**_: Any) -> None:
    from jobs.worker import lease_keeper

    if lease_keeper.current is not None:
        lease_keeper.current.forget()


class Supervisor(bootsteps.StartStopStep):  # type: ignore[misc]
    """A step of the worker, not of its consumer, which is restarted at each reconnect.

    It does not require the pool: a step that does is stopped before the pool has drained, and what
    still runs then needs its lease most.
    """

    requires = ("celery.worker.components:Timer",)

    def __init__(self, worker: Any, **options: Any) -> None:
        self.heart: Any = None

    def start(self, worker: Any) -> None:
        from jobs.worker import lease_keeper, orphans

        orphans.adopt()
        self.heart = lease_keeper.Heart(worker)
        self.heart.start()

    def register_with_event_loop(self, worker: Any, hub: Any) -> None:
        """The pool hears of a process's end a moment before it can be waited for, and when it loses that
        race, it looks again only after five seconds."""
        maintain = getattr(worker.pool, "maintain_pool", None)
        if maintain is not None:
            hub.call_repeatedly(LOOK_SECONDS, maintain)

    def stop(self, worker: Any) -> None:
        if self.heart is not None:
            self.heart.say_goodbye()

    def terminate(self, worker: Any) -> None:
        """A cold stop: the pool is gone, and what it ran goes to others at once."""
        if self.heart is not None:
            self.heart.hand_back()
        self.stop(worker)
