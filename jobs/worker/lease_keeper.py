"""The heartbeat: one statement renews all leases and brings back what is to be stopped."""

import logging
import os
import queue
import signal
import threading
import time
from dataclasses import dataclass
from typing import Any

from celery.worker import state as worker_state
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from jobs import counters, lifecycle
from jobs.sql import call, statements
from jobs.subprocesses import process_tree
from jobs.worker import orphans

log = logging.getLogger(__name__)

# How long before its lease's end an unconfirmed run is killed: nobody else can have started it yet.
MARGIN = 0.15
# A run that ended in the database and still goes on here was fenced off; it is given one more beat.
BEATS_OVER = 2
NO_ROLES = "[]"
SOON_SECONDS = 0.5

# What the main loop reports: a process died; its hard limit was reached; somebody cancelled the run; its
# process was sent away because the worker stops; the worker has stopped; it was drained; taken back.
LOST, OVERRUN, STOP, BACK, GOODBYE = "lost", "overrun", "stop", "back", "goodbye"
DRAIN, RESUME = "drain", "resume"

current: "Heart | None" = None


@dataclass
class Held:
    """A message that this worker has accepted, and what became of it so far."""

    execution: str
    dispatch: int
    pid: int | None
    confirmed: float  # CLOCK_BOOTTIME of the last moment from which the lease is known to hold
    claimed: bool = False
    told_at: float | None = None
    beats_over: int = 0


def boot_time() -> float:
    """Seconds that go on while the machine sleeps: a lease does not wait for its owner to wake."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


class Heart(threading.Thread):
    def __init__(self, worker: Any) -> None:
        super().__init__(name="dure-heart", daemon=True)
        global current  # noqa: PLW0603 (requests and control commands of this process find it here)
        current = self
        self.worker = worker
        self.name_of_worker = worker.hostname
        self.held: dict[tuple[str, int], Held] = {}
        self.reports: queue.SimpleQueue[tuple[str, str, int, str]] = queue.SimpleQueue()
        self.born = time.time()
        self.next_beat = 0.0
        self.draining = False
        self.forgotten = False

    # --- called from Celery's main loop ----------------------------------------------------------

    def report(self, kind: str, execution: str, dispatch: int, message: str = "") -> None:
        self.reports.put((kind, execution, dispatch, message))

    def say_goodbye(self) -> None:
        self.reports.put((GOODBYE, "", 0, ""))

    def forget(self) -> None:
        """The pool has drained, and the process is about to end."""
        self.forgotten = True
        try:
            call.change(statements.FORGET_WORKER, [self.name_of_worker])
        except (DatabaseError, InterfaceError) as error:
            log.warning("could not say goodbye: %s", str(error).strip())

    def hand_back(self) -> None:
        """Give up what still runs here, so that nobody has to wait for its lease to run out.

        Called when the pool is gone. The thread may not get to its reports any more.
        """
        known = dict(self.held)
        self.collect()
        for execution, dispatch in known | self.held:
            self.reports.put((BACK, execution, dispatch, ""))
        while not self.reports.empty():
            try:
                self.take(*self.reports.get_nowait())
            except queue.Empty:
                return
            except (DatabaseError, InterfaceError) as error:
                log.warning("could not hand back a run, its lease will end: %s", str(error).strip())

    # --- the thread ------------------------------------------------------------------------------

    def run(self) -> None:
        while True:
            try:
                self.turn()
            except (DatabaseError, InterfaceError) as error:
                log.warning("the heartbeat could not reach the database: %s", str(error).strip())
                connection.close()
            except Exception:
                log.exception("the heartbeat stumbled")
            self.kill_the_unconfirmed()

    def turn(self) -> None:
        """Wait for a report or for the next beat, whichever is first, and deal with it."""
        wait = max(0.0, min([self.next_beat, *self.kill_times()]) - boot_time())
        try:
            report = self.reports.get(timeout=wait)
        except queue.Empty:
            report = None
        if report is not None:
            self.take(*report)
        self.kill_the_deaf()
        if boot_time() >= self.next_beat:
            self.next_beat = boot_time() + settings.DURE_HEARTBEAT_SECONDS
            self.beat()

    def take(self, kind: str, execution: str, dispatch: int, message: str) -> None:
        if kind in (GOODBYE, DRAIN, RESUME):
            self.draining = kind != RESUME
            self.collect()
            self.introduce()
        elif kind == STOP:
            self.collect()
            for held in list(self.held.values()):
                if held.execution == execution:
                    self.ask_to_stop(held)
        elif (found := lifecycle.owned(execution, dispatch, self.name_of_worker)) is not None:
            fence, trigger = found
            if kind == OVERRUN:
                lifecycle.overrun(execution, fence, trigger=trigger)
            elif kind == BACK:
                lifecycle.hand_back(execution, fence, trigger=trigger)
            else:
                lifecycle.lose(execution, fence, trigger=trigger, expired=False, error=message)
                counters.add(counters.LOST)
            orphans.kill_of(execution)

    def collect(self) -> None:
        """What the pool has accepted and not yet given back."""
        now = boot_time()
        active = {}
        for request in active_requests():
            execution, dispatch = request.args
            key = (str(execution), int(dispatch))
            started = now if request.time_start is None else now - (time.monotonic() - request.time_start)
            active[key] = self.held.get(key) or Held(*key, pid=None, confirmed=min(now, started))
            active[key].pid = request.worker_pid
        self.held = active

    def beat(self) -> None:
        call.heal()
        self.collect()
        sent = boot_time()
        if self.held:
            for execution, dispatch, verdict in self.renew():
                held = self.held.get((str(execution), dispatch))
                if held is not None:
                    self.judge(held, verdict, sent)
        self.introduce()
        orphans.kill_all()

    def renew(self) -> list[tuple[Any, ...]]:
        held = list(self.held.values())
        return call.rows(
            statements.RENEW,
            [
                self.name_of_worker,
                [one.execution for one in held],
                [one.dispatch for one in held],
                f"{settings.DURE_LEASE_SECONDS} seconds",
                f"{settings.DURE_GRACE_SECONDS} seconds",
            ],
        )

    def judge(self, held: Held, verdict: str, sent: float) -> None:
        if verdict in ("kept", "cancel", "late"):
            held.confirmed, held.claimed, held.beats_over = sent, True, 0
        if verdict == "waiting" and held.claimed:
            self.kill(held, "has a claim that the database does not know any more")
        elif verdict == "waiting":
            held.confirmed = sent
        elif verdict == "cancel":
            self.ask_to_stop(held)
        elif verdict == "late":
            # Said first: the main loop will see the process die, and would call the run lost.
            self.report(OVERRUN, held.execution, held.dispatch)
            self.kill(held, "ran on after its time was over")
        elif verdict == "over":
            held.beats_over += 1
            if held.beats_over >= BEATS_OVER:
                self.kill(held, "ran on after it had ended, or became somebody else's")

    # --- stopping --------------------------------------------------------------------------------

    def ask_to_stop(self, held: Held) -> None:
        """Softly, once; the grace begins now."""
        if held.told_at is None and held.pid:
            held.told_at = boot_time()
            log.info("asking %s to stop", held.execution)
            send_signal(held.pid, signal.SIGUSR1)

    def kill_times(self) -> list[float]:
        grace = settings.DURE_GRACE_SECONDS
        lease = settings.DURE_LEASE_SECONDS * (1 - MARGIN)
        told = [held.told_at + grace for held in self.held.values() if held.told_at is not None]
        return told + [held.confirmed + lease for held in self.held.values()]

    def kill_the_deaf(self) -> None:
        """Those that were asked to stop and did not within the grace."""
        now = boot_time()
        if any(
            held.told_at is not None and held.told_at + settings.DURE_GRACE_SECONDS <= now
            for held in self.held.values()
        ):
            self.collect()
            for held in list(self.held.values()):
                if held.told_at is not None and held.told_at + settings.DURE_GRACE_SECONDS <= now:
                    self.kill(held, "did not stop within its grace")

    def kill_the_unconfirmed(self) -> None:
        """The lease may be anybody's soon: what could not be confirmed must not run on."""
        limit = boot_time() - settings.DURE_LEASE_SECONDS * (1 - MARGIN)
        if any(held.confirmed <= limit for held in self.held.values()):
            self.collect()
            for held in list(self.held.values()):
                if held.confirmed <= limit:
                    self.kill(held, "could not have its lease renewed")

    def kill(self, held: Held, why: str) -> None:
        self.held.pop((held.execution, held.dispatch), None)
        if held.pid and held.pid in orphans.pool_pids(self.worker):
            log.warning("killing %s, process %s: it %s", held.execution, held.pid, why)
            process_tree.kill_tree(held.pid)

    def introduce(self) -> None:
        if self.forgotten:
            return
        me = self.introduction()
        call.change(statements.SEE_WORKER, me)
        if me["roles"] == NO_ROLES:
            # It does not listen yet; nobody should have to wait a whole beat to hear of it.
            self.next_beat = boot_time() + SOON_SECONDS

    def introduction(self) -> dict[str, object]:
        consumer = getattr(self.worker, "consumer", None)
        task_consumer = getattr(consumer, "task_consumer", None)
        roles = sorted(q.name for q in task_consumer.queues) if task_consumer is not None else []
        return {
            "name": self.name_of_worker,
            "roles": call.as_json(roles),
            "slots": self.worker.concurrency,
            "running": len(self.held),
            "draining": self.draining,
            "born": self.born,
        }


def active_requests() -> list[Any]:
    """The accepted requests of registered Tasks. The set is the main loop's: reading may take two tries."""
    for _ in range(10):
        try:
            found = list(worker_state.active_requests)
            break
        except RuntimeError:
            continue
    else:
        found = []
    return [request for request in found if hasattr(request, "engine_request")]


def send_signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        log.debug("process %s has gone already", pid)
