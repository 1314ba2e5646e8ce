"""Renews the leases of this worker's runs in one statement, and stops runs that must not continue."""

import logging
import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import Any

from celery.worker import state as worker_state
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from jobs import counters, joins, lifecycle
from jobs.log_fields import about_run
from jobs.sql import call, statements
from jobs.subprocesses import orphans, process_tree
from jobs.subprocesses.watchdog import boot_time
from jobs.worker.leased_runs import LeasedRun, active_requests
from jobs.worker.registration import WorkerRow

log = logging.getLogger(__name__)

# The share of its lease before whose end an unrenewed run is killed: no other worker can have started it yet.
MARGIN = 0.15
# A run that has ended in the database and still runs here is fenced off; this renewal kills it.
RENEWALS_OVER = 2
SOON_SECONDS = 0.5
# How long the exit of the worker waits for the last reports to be handled.
EXIT_SECONDS = 5.0


class Report(StrEnum):
    """The reports of Celery's main loop to the lease keeper's thread."""

    LOST = "lost"  # a pool process died
    TIMED_OUT = "timed_out"  # a run was killed after its time limit
    STOP = "stop"  # a run was cancelled
    RELEASE = "release"  # a run's process was stopped because the worker stops
    SHUTDOWN = "shutdown"  # the worker stops
    DRAIN = "drain"
    RESUME = "resume"
    EXIT = "exit"  # all that was reported before is to be handled, and nothing after it


current: "LeaseKeeper | None" = None


class LeaseKeeper(threading.Thread):
    """A thread of the worker's main process, independent of Celery's event loop and its reconnects."""

    def __init__(self, worker: Any) -> None:
        super().__init__(name="dure-lease-keeper", daemon=True)
        global current  # noqa: PLW0603 (requests and control commands of this process find it here)
        current = self
        self.worker = worker
        self.worker_name = worker.hostname
        self.runs: dict[str, LeasedRun] = {}  # by message
        self.reports: queue.SimpleQueue[tuple[Report, tuple[str, ...], str]] = queue.SimpleQueue()
        self.next_renewal = 0.0
        self.is_over = False
        self.row = WorkerRow(worker)
        self.watchdog = orphans.Watchdog()

    # --- called from Celery's main loop ----------------------------------------------------------

    def report(self, kind: Report, *subjects: str, text: str = "") -> None:
        """Report the end of a message's process, or ask Executions to stop: `subjects` are their ids."""
        self.reports.put((kind, subjects, text))

    def release_all(self) -> None:
        """Release the remaining runs, so that no other worker has to wait until a lease expires.

        The worker calls this when the pool has ended.
        """
        before = dict(self.runs)
        self.collect_active()
        # A process may have begun what the main process only knows to have sent.
        sent = dict.fromkeys(request.id for request in worker_state.reserved_requests)
        for message in before | self.runs | sent:
            self.report(Report.RELEASE, message)

    def finish(self) -> None:
        """Handle what was reported, and end the thread.

        A process that exits in the middle of a report may have written the end of a run and not yet sent the
        message of the next one, which would then wait for the sweep.
        """
        if self.is_alive():
            self.report(Report.EXIT)
            self.join(EXIT_SECONDS)

    # --- the thread ------------------------------------------------------------------------------

    def run(self) -> None:
        while not self.is_over:
            self.watchdog.allow_until(self.watchdog_time(), watchdog_seconds())
            try:
                self.run_once()
            except (DatabaseError, InterfaceError) as error:
                log.warning("the lease keeper could not reach the database: %s", str(error).strip())
                connection.close()
            except Exception:
                log.exception("an iteration of the lease keeper failed")
            self.kill_unrenewed()

    def run_once(self) -> None:
        """Wait for a report or the next renewal, and handle it."""
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

    def handle_report(self, kind: Report, subjects: tuple[str, ...], text: str) -> None:
        if kind == Report.EXIT:
            self.is_over = True
        elif kind in (Report.SHUTDOWN, Report.DRAIN, Report.RESUME):
            self.row.draining = kind != Report.RESUME
            self.collect_active()
            self.register()
        elif kind == Report.STOP:
            self.collect_active()
            self.follow_runs()
            for run in list(self.runs.values()):
                if run.execution in subjects:
                    self.request_stop(run)
        else:
            self.end_run(kind, subjects[0], text)

    def end_run(self, kind: Report, message: str, text: str) -> None:
        """Write the end of a run whose process cannot do so any more, unless it has ended."""
        owned = lifecycle.run_of_message(message, self.worker_name)
        if owned is None:
            return
        execution, fence, trigger, attempt, job = owned
        with about_run(execution, job=job, attempt=attempt):
            if kind == Report.TIMED_OUT:
                lifecycle.finish_timed_out(execution, fence, trigger=trigger)
            elif kind == Report.RELEASE:
                lifecycle.release_run(execution, fence, trigger=trigger)
            else:
                lifecycle.mark_lost(execution, fence, trigger=trigger, expired=False, error=text)
                log.warning("a run was lost: %s", text)
                counters.add(counters.LOST)
            orphans.kill_orphans(self.worker)

    def collect_active(self) -> None:
        """Update the runs: those that the pool has accepted and not yet finished."""
        now = boot_time()
        active = {}
        for request in active_requests():
            execution, dispatch = request.args
            started = now if request.time_start is None else now - (time.time() - request.time_start)
            run = self.runs.get(request.id) or LeasedRun(
                request.id, str(execution), int(dispatch), pid=None, confirmed=min(now, started)
            )
            run.pid = request.worker_pid
            active[request.id] = run
        self.runs = active

    def follow_runs(self) -> None:
        """Learn from the tokens of this worker's claims what each message runs now."""
        for token, *values in call.rows(statements.RUNS_OF_WORKER, [self.worker_name]):
            run = self.runs.get(token.partition(":")[0])
            if run is not None:
                run.follow(*values)

    def renew_leases(self) -> None:
        call.close_broken_connection()
        self.collect_active()
        if self.runs:
            self.follow_runs()
            sent_at = boot_time()
            verdicts = {(str(execution), dispatch): verdict for execution, dispatch, verdict in self.renew()}
            for run in list(self.runs.values()):
                self.apply_verdict(run, verdicts[run.execution, run.dispatch], sent_at)
        self.register()
        orphans.kill_orphans(self.worker)

    def renew(self) -> list[tuple[Any, ...]]:
        runs = list(self.runs.values())
        return call.rows(
            statements.RENEW,
            [
                self.worker_name,
                [run.execution for run in runs],
                [run.dispatch for run in runs],
                f"{settings.DURE_LEASE_SECONDS} seconds",
                f"{settings.DURE_GRACE_SECONDS} seconds",
            ],
        )

    def apply_verdict(self, run: LeasedRun, verdict: str, sent_at: float) -> None:
        """Act on the verdict of dure_renew about one run."""
        if verdict == "over" and run.dispatch == joins.DISPATCH:
            verdict = "waiting"  # the join's Execution is made by its claim
        if verdict in ("kept", "cancel", "late"):
            run.confirmed, run.renewals_over = sent_at, 0
        if verdict == "waiting" and run.claimed:
            self.kill(run, "has a claim that the database has lost")
        elif verdict == "waiting":
            run.confirmed = sent_at
        elif verdict == "cancel":
            self.request_stop(run)
        elif verdict == "late" and run.claimed:
            # Report it first: the main loop notices that the process dies, and would report the run as lost.
            self.report(Report.TIMED_OUT, run.message)
            self.kill(run, "ran on after its time limit")
        elif verdict == "over":
            run.renewals_over += 1
            if run.renewals_over >= RENEWALS_OVER:
                self.kill(run, "ran on after it had ended, or had got another owner")

    # --- stopping --------------------------------------------------------------------------------

    def request_stop(self, run: LeasedRun) -> None:
        """Raise the soft time limit in the body, once; the grace begins now."""
        if run.stop_requested_at is None and run.pid and run.claimed:
            run.stop_requested_at = boot_time()
            with run.in_log():
                log.info("asking a run to stop")
            send_signal(run.pid, signal.SIGUSR1)

    def kill_times(self) -> list[float]:
        grace = settings.DURE_GRACE_SECONDS
        lease = settings.DURE_LEASE_SECONDS * (1 - MARGIN)
        runs = self.runs.values()
        stops = [run.stop_requested_at + grace for run in runs if run.stop_requested_at is not None]
        return stops + [run.confirmed + lease for run in runs]

    def watchdog_time(self) -> float:
        """When the watchdog ends all runs, unless this thread has moved the time on: after it would have
        killed a run itself, and before another worker may start one.
        """
        now = boot_time()
        lease = settings.DURE_LEASE_SECONDS
        # A request stays active until Celery has noticed the death of its process. Nothing renews its lease,
        # and the other runs must not end with it. What could not be renewed, this thread has just killed.
        limit = now - lease * (1 - MARGIN)
        runs = [run for run in self.runs.values() if run.has_process() and run.confirmed > limit]
        return min([now, *(run.confirmed for run in runs)]) + watchdog_seconds()

    def kill_unresponsive(self) -> None:
        """Kill the runs that did not stop within their grace."""
        limit = boot_time() - settings.DURE_GRACE_SECONDS

        def is_unresponsive(run: LeasedRun) -> bool:
            return run.stop_requested_at is not None and run.stop_requested_at <= limit

        if any(map(is_unresponsive, self.runs.values())):
            with suppress(DatabaseError, InterfaceError):  # a run must end even while the database is away
                self.follow_runs()
            self.kill_where(is_unresponsive, "did not stop within its grace")

    def kill_unrenewed(self) -> None:
        """Kill the runs whose lease could not be renewed: another worker may start them soon."""
        limit = boot_time() - settings.DURE_LEASE_SECONDS * (1 - MARGIN)
        self.kill_where(lambda run: run.confirmed <= limit, "could not have its lease renewed")

    def kill_where(self, condition: Callable[[LeasedRun], bool], why: str) -> None:
        if any(condition(run) for run in self.runs.values()):
            self.collect_active()
            for run in list(self.runs.values()):
                if condition(run):
                    self.kill(run, why)

    def kill(self, run: LeasedRun, why: str) -> None:
        self.runs.pop(run.message, None)
        if run.pid and run.has_process() and run.pid in orphans.pool_pids(self.worker):
            with run.in_log():
                log.warning("killing a run, process %s: it %s", run.pid, why)
            process_tree.kill_tree(run.pid)

    # --- the list of workers ---------------------------------------------------------------------

    def register(self) -> None:
        if not self.row.write(running=len(self.runs)):
            # The worker does not consume yet; register it again soon, when it has roles.
            self.next_renewal = boot_time() + SOON_SECONDS


def watchdog_seconds() -> float:
    """How long after its last renewal the watchdog ends a run."""
    return float(settings.DURE_LEASE_SECONDS) * (1 - MARGIN / 2)


def send_signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        log.debug("process %s has exited already", pid)
