"""Starts and stops the lease keeper with the worker."""

import logging
from typing import Any

from celery import bootsteps, signals

from jobs.worker import bursts

log = logging.getLogger(__name__)

# The interval at which the pool looks for ended processes.
MAINTAIN_POOL_SECONDS = 0.5


@signals.worker_init.connect  # type: ignore[untyped-decorator]
def refuse_unknown_engine(**_: Any) -> None:
    """Exit when the database has an engine that this code does not know: its calls would fail."""
    from django.db import DatabaseError, InterfaceError

    from jobs.sql import engine

    try:
        problem = engine.version_problem()
    except (DatabaseError, InterfaceError) as error:
        log.warning("could not check the version of the engine: %s", str(error).strip())
        return
    if problem:
        raise SystemExit(" ".join(problem))


@signals.worker_init.connect  # type: ignore[untyped-decorator]
def load_worker_modules(**_: Any) -> None:
    """Exit when a module of DURE_WORKER_MODULES cannot be imported: its Tasks would be missing."""
    from jobs import registry

    try:
        registry.load_worker_modules()
    except Exception as error:
        log.exception("a module of DURE_WORKER_MODULES cannot be imported")
        raise SystemExit(f"DURE_WORKER_MODULES: {type(error).__name__}: {error}") from None


@signals.worker_init.connect  # type: ignore[untyped-decorator]
def prepare_main_process(**_: Any) -> None:
    """Before the pool starts, since its processes need to know their worker."""
    from jobs.subprocesses import orphans

    orphans.prepare_main_process()


@signals.worker_shutdown.connect  # type: ignore[untyped-decorator]
def deregister(**_: Any) -> None:
    from jobs.worker import lease_keeper

    if lease_keeper.current is not None:
        lease_keeper.current.finish()
        lease_keeper.current.row.delete()


class LeaseKeeperStep(bootsteps.StartStopStep):  # type: ignore[misc]
    """A step of the worker, not of its consumer, which is restarted at each reconnect.

    It does not require the pool: a step that does is stopped before the pool has drained, and what
    still runs then needs its lease most.
    """

    requires = ("celery.worker.components:Timer",)

    def __init__(self, worker: Any, **options: Any) -> None:
        self.lease_keeper: Any = None

    def start(self, worker: Any) -> None:
        from jobs.worker import lease_keeper

        self.lease_keeper = lease_keeper.LeaseKeeper(worker)
        # Before the worker consumes or answers a ping: then all know what it runs. And before the watchdog of
        # the lease keeper starts, which does not wait for the database.
        self.lease_keeper.row.write_catalogue()
        self.lease_keeper.start()

    def register_with_event_loop(self, worker: Any, hub: Any) -> None:
        """Look for ended pool processes often. The pool is told of a process's end a moment before it can
        be waited for; when it loses that race, it would look again only after five seconds."""
        bursts.register_with_event_loop(hub)
        maintain = getattr(worker.pool, "maintain_pool", None)
        if maintain is not None:
            hub.call_repeatedly(MAINTAIN_POOL_SECONDS, maintain)

    def stop(self, worker: Any) -> None:
        from jobs.worker.lease_keeper import Report

        if self.lease_keeper is not None:
            self.lease_keeper.report(Report.SHUTDOWN)

    def terminate(self, worker: Any) -> None:
        """A cold stop: the pool has ended, and other workers may take its runs at once.

        Celery does not send `worker_shutdown` then.
        """
        if self.lease_keeper is not None:
            self.lease_keeper.release_all()
            deregister()


class DeadProcessStep(bootsteps.StartStopStep):  # type: ignore[misc]
    """Lets the pool be registered with the event loop again while one of its processes is dead.

    The pool closes what tells it of a process's end as soon as it has been told. If the broker goes away
    before it has replaced that process, Celery's registration after the reconnect raises ValueError, which
    ends the worker. Without the closed descriptor it makes another, and learns of the end once more.
    """

    # Registered before the pool: the steps are asked in reverse order.
    requires = ("celery.worker.components:Pool",)

    def register_with_event_loop(self, worker: Any, hub: Any) -> None:
        from jobs.subprocesses import orphans

        for process in orphans.pool_processes(worker) or ():
            if getattr(process, "_sentinel_poll", -1) is None:
                del process._sentinel_poll
