"""Renews the leases of what this worker runs, in one statement, and stops what must not go on."""

import logging
import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from celery.worker import state as worker_state
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from jobs import counters, lifecycle
from jobs.sql import call, statements
from jobs.subprocesses import orphans, process_tree

log = logging.getLogger(__name__)

# How long before its lease's end an unrenewed run is killed: no other worker can have started it yet.
MARGIN = 0.15
# A run that ended in the database and still goes on here was fenced off; it is given one more renewal.
RENEWALS_OVER = 2
NO_ROLES = "[]"
SOON_SECONDS = 0.5


class Report(StrEnum):
    """What Celery's main loop reports to the lease keeper's thread."""

    LOST = "lost"  # a pool process died
    TIMED_OUT = "timed_out"  # a run was killed after its time limit
    STOP = "stop"  # a run was cancelled
    RELEASE = "release"  # a run's process was stopped because the worker stops
    SHUTDOWN = "shutdown"  # the worker stops
    DRAIN = "drain"
    RESUME = "resume"


current: "LeaseKeeper | None" = None


@dataclass
class Held:
    """A message that this worker has accepted, and what is known of its lease."""

    execution: str
    dispatch: int
    pid: int | None
    confirmed: float  # CLOCK_BOOTTIME of the last moment at which the lease was certainly held
    claimed: bool = False
    stop_requested_at: float | None = None
    renewals_over: int = 0


def boot_time() -> float:
    """Seconds that go on while the machine sleeps, as a lease does."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


class LeaseKeeper(threading.Thread):
    """A thread of the worker's main process, apart from Celery's event loop and from its reconnects."""

    def __init__(self, worker: Any) -> None:
        super().__init__(name="dure-lease-keeper", daemon=True)
        global current  # noqa: PLW0603 (requests and control commands of this process find it here)
        current = self
        self.worker = worker
        self.worker_name = worker.hostname
        self.held: dict[tuple[str, int], Held] = {}
        self.reports: queue.SimpleQueue[tuple[Report, str, int, str]] = queue.SimpleQueue()
        self.started_at = time.time()
        self.next_renewal = 0.0
        self.draining = False
        self.deregistered = False

    # --- called from Celery's main loop ----------------------------------------------------------

    def report(self, kind: Report, execution: str = "", dispatch: int = 0, message: str = "") -> None:
        self.reports.put((kind, execution, dispatch, message))

    def deregister(self) -> None:
        """The pool has drained, and the process is about to end."""
        self.deregistered = True
        try:
            call.change(statements.DELETE_WORKER, [self.worker_name])
        except (DatabaseError, InterfaceError) as error:
            log.warning("could not deregister this worker: %s", str(error).strip())

    def release_all(self) -> None:
        """Release what still runs here, so that no other worker has to wait for a lease to run out.

        Called when the pool is gone. The thread may not get to its reports any more.
        """
        before = dict(self.held)
        self.collect_active()
        for execution, dispatch in before | self.held:
            self.report(Report.RELEASE, execution, dispatch)
        while not self.reports.empty():
            try:
                self.handle_report(*self.reports.get_nowait())
            except queue.Empty:
                return
            except (DatabaseError, InterfaceError) as error:
                log.warning("could not release a run; its lease will run out: %s", str(error).strip())

    # --- the thread ------------------------------------------------------------------------------

    def run(self) -> None:
        while True:
            try:
                self.run_once()
            except (DatabaseError, InterfaceError) as error:
                log.warning("the lease keeper could not reach the database: %s", str(error).strip())
                connection.close()
            except Exception:
                log.exception("an iteration of the lease keeper failed")
            self.kill_unrenewed()

    def run_once(self) -> None:
        """Wait for a report or for the next renewal, whichever is first, and handle it."""
        wait = max(0.0, min([self.next_renewal, *self.kill_times()]) - boot_time())
        try:
            report = self.reports.get(timeout=wait)
        except queue.Empty:
            report = None
        if report is not None:
            self.handle_report(*report)
        self.kill_unresponsive()
        if boot_time() >= self.next_renewal:
            self.next_renewal = boot_time() + settings.DURE_HEARTBEAT_SECONDS
            self.renew_leases()

    def handle_report(self, kind: Report, execution: str, dispatch: int, message: str) -> None:
        if kind in (Report.SHUTDOWN, Report.DRAIN, Report.RESUME):
            self.draining = kind != Report.RESUME
            self.collect_active()
            self.register()
        elif kind == Report.STOP:
            self.collect_active()
            for held in list(self.held.values()):
                if held.execution == execution:
                    self.request_stop(held)
        else:
            self.end_run(kind, execution, dispatch, message)

    def end_run(self, kind: Report, execution: str, dispatch: int, message: str) -> None:
        """Write the end of a run whose process cannot do so any more, unless it has ended."""
        owned = lifecycle.current_fence(execution, dispatch, self.worker_name)
        if owned is None:
            return
        fence, trigger = owned
        if kind == Report.TIMED_OUT:
            lifecycle.finish_timed_out(execution, fence, trigger=trigger)
        elif kind == Report.RELEASE:
            lifecycle.release_run(execution, fence, trigger=trigger)
        else:
            lifecycle.mark_lost(execution, fence, trigger=trigger, expired=False, error=message)
            counters.add(counters.LOST)
        orphans.kill_orphans_of(execution)

    def collect_active(self) -> None:
        """Update what is held: what the pool has accepted and not yet finished."""
        now = boot_time()
        active = {}
        for request in active_requests():
            execution, dispatch = request.args
            key = (str(execution), int(dispatch))
            started = now if request.time_start is None else now - (time.monotonic() - request.time_start)
            active[key] = self.held.get(key) or Held(*key, pid=None, confirmed=min(now, started))
            active[key].pid = request.worker_pid
        self.held = active

    def renew_leases(self) -> None:
        call.close_broken_connection()
        self.collect_active()
        sent_at = boot_time()
        if self.held:
            for execution, dispatch, verdict in self.renew():
                held = self.held.get((str(execution), dispatch))
                if held is not None:
                    self.apply_verdict(held, verdict, sent_at)
        self.register()
        orphans.kill_all()

    def renew(self) -> list[tuple[Any, ...]]:
        every = list(self.held.values())
        return call.rows(
            statements.RENEW,
            [
                self.worker_name,
                [held.execution for held in every],
                [held.dispatch for held in every],
                f"{settings.DURE_LEASE_SECONDS} seconds",
                f"{settings.DURE_GRACE_SECONDS} seconds",
            ],
        )

    def apply_verdict(self, held: Held, verdict: str, sent_at: float) -> None:
        """What dure_renew says of one run."""
        if verdict in ("kept", "cancel", "late"):
            held.confirmed, held.claimed, held.renewals_over = sent_at, True, 0
        if verdict == "waiting" and held.claimed:
            self.kill(held, "has a claim that the database has lost")
        elif verdict == "waiting":
            held.confirmed = sent_at
        elif verdict == "cancel":
            self.request_stop(held)
        elif verdict == "late":
            # Reported first: the main loop will see the process die, and would call the run lost.
            self.report(Report.TIMED_OUT, held.execution, held.dispatch)
            self.kill(held, "ran on after its time limit")
        elif verdict == "over":
            held.renewals_over += 1
            if held.renewals_over >= RENEWALS_OVER:
                self.kill(held, "ran on after it had ended, or had got another owner")

    # --- stopping --------------------------------------------------------------------------------

    def request_stop(self, held: Held) -> None:
        """Raise the soft time limit in the body, once; the grace begins now."""
        if held.stop_requested_at is None and held.pid:
            held.stop_requested_at = boot_time()
            log.info("asking %s to stop", held.execution)
            send_signal(held.pid, signal.SIGUSR1)

    def kill_times(self) -> list[float]:
        grace = settings.DURE_GRACE_SECONDS
        lease = settings.DURE_LEASE_SECONDS * (1 - MARGIN)
        every = self.held.values()
        stops = [held.stop_requested_at + grace for held in every if held.stop_requested_at is not None]
        return stops + [held.confirmed + lease for held in every]

    def kill_unresponsive(self) -> None:
        """Kill the runs that did not stop within their grace."""
        limit = boot_time() - settings.DURE_GRACE_SECONDS
        self.kill_where(
            lambda held: held.stop_requested_at is not None and held.stop_requested_at <= limit,
            "did not stop within its grace",
        )

    def kill_unrenewed(self) -> None:
        """Kill the runs whose lease could not be renewed: another worker may start them soon."""
        limit = boot_time() - settings.DURE_LEASE_SECONDS * (1 - MARGIN)
        self.kill_where(lambda held: held.confirmed <= limit, "could not have its lease renewed")

    def kill_where(self, condition: Callable[[Held], bool], why: str) -> None:
        if any(condition(held) for held in self.held.values()):
            self.collect_active()
            for held in list(self.held.values()):
                if condition(held):
                    self.kill(held, why)

    def kill(self, held: Held, why: str) -> None:
        self.held.pop((held.execution, held.dispatch), None)
        if held.pid and held.pid in orphans.pool_pids(self.worker):
            log.warning("killing %s, process %s: it %s", held.execution, held.pid, why)
            process_tree.kill_tree(held.pid)

    # --- the list of workers ---------------------------------------------------------------------

    def register(self) -> None:
        if self.deregistered:
            return
        values = self.registration()
        call.change(statements.UPSERT_WORKER, values)
        if values["roles"] == NO_ROLES:
            # It does not consume yet; its roles should not be unknown until the next renewal.
            self.next_renewal = boot_time() + SOON_SECONDS

    def registration(self) -> dict[str, object]:
        consumer = getattr(self.worker, "consumer", None)
        task_consumer = getattr(consumer, "task_consumer", None)
        roles = sorted(q.name for q in task_consumer.queues) if task_consumer is not None else []
        return {
            "name": self.worker_name,
            "roles": call.as_json(roles),
            "slots": self.worker.concurrency,
            "running": len(self.held),
            "draining": self.draining,
            "started_at": self.started_at,
        }


def active_requests() -> list[Any]:
    """The accepted requests of registered Tasks."""
    for _ in range(10):
        try:
            requests = list(worker_state.active_requests)
        except RuntimeError:  # the main loop changed the set meanwhile
            continue
        return [request for request in requests if hasattr(request, "engine_request")]
    return []


def send_signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        log.debug("process %s has exited already", pid)
