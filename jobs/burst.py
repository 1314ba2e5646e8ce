"""A short run brings the next along: its finish also claims a job that it has sent, for the same process.

That saves the way through Redis and the worker's main process. A burst is the chain of runs that one message
started. It ends after DURE_BURST_MS, when the worker takes nothing new, when the next job is of a role that
the worker does not serve, when a message is more urgent, and after a moment when one has waited too long.

Each run is an Execution like any other, with a claim, fence, lease, deadline and attempt of its own, and goes
through Celery's tracer for its own Task. The token of its claim begins with the id of the burst's message: so
the lease keeper knows which process runs what. If a process dies before it begins a run that it has claimed,
the main process ends that run, as any other.

More processes in bursts than there are cores take turns on them, each with cold caches: all together do less
than as many as there are cores. So a message waits a moment before its claim while these are busy.
"""

import logging
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from celery import current_app, signals
from django.conf import settings
from django.db import DatabaseError, InterfaceError

from jobs import catalogue, deadline, lifecycle, publish
from jobs.answers import Claim, NextClaim
from jobs.worker import bursts

log = logging.getLogger(__name__)

Tracer = Callable[..., Any]

# How often the bursts of a worker look for a more urgent message: one of them does it for all.
LOOK_SECONDS = 0.01
# For how long a burst goes on although other messages wait. With many offices some always do, and a message
# for each run costs as much as the run.
YIELD_SECONDS = 0.02
# How often a message that waits for a core looks whether one is free, and for how long at most.
LOOK_FOR_CORE_SECONDS = 0.005
LONGEST_WAIT_SECONDS = 0.5


@dataclass
class Burst:
    """The message that this process has, and the run that is to follow the current one."""

    message: str
    worker: str
    roles: list[str]
    ends: float
    level: int | None = None
    yields_at: float = 0.0  # from then on, it ends for messages that have waited for long
    next_run: tuple[str, Claim] | None = None
    claim: Claim | None = None


_current: Burst | None = None
_tracers: dict[str, Tracer] = {}


@signals.worker_process_init.connect(weak=False)  # type: ignore[untyped-decorator]
def extend_tracers(**_: object) -> None:
    """Let the tracer of each Task, which Celery has just built, go on with the runs that follow."""
    from jobs.runner import EngineTask

    if settings.DURE_BURST_MS:
        bursts.take_place()
        for name, task in current_app.tasks.items():
            if isinstance(task, EngineTask):
                _tracers[name] = task.__trace__
                task.__trace__ = _with_next_runs(task.__trace__)


def _with_next_runs(tracer: Tracer) -> Tracer:
    def trace(message: str, args: Any, kwargs: Any, request: dict[str, Any] | None = None) -> Any:
        global _current  # noqa: PLW0603 (a pool process has one message at a time)
        headers = request or {}
        now = time.monotonic()
        _current = burst = Burst(
            message,
            str(headers.get("hostname") or ""),
            list(headers.get(bursts.ROLES) or ()),
            ends=now + settings.DURE_BURST_MS / 1000,
            level=(headers.get("delivery_info") or {}).get("priority"),
            yields_at=now + YIELD_SECONDS,
        )
        try:
            answer = tracer(message, args, kwargs, request)
            while burst.next_run is not None:
                task_id, burst.claim = burst.next_run
                burst.next_run = None
                if task_id not in _tracers:
                    # A job may name any role, and the catalogue is a moment old.
                    lifecycle.release_run(
                        burst.claim.execution_id, burst.claim.fence, trigger=burst.claim.trigger
                    )
                    break
                answer = _trace_next(burst, task_id, burst.claim, headers, answer)
        finally:
            _current = None
            bursts.forget_busy()
            deadline.resume_signals()
        return answer

    return trace


def _trace_next(burst: Burst, task_id: str, claim: Claim, headers: dict[str, Any], last: Any) -> Any:
    name = publish.message_id(claim.execution_id, claim.dispatch)
    args = (claim.execution_id, claim.dispatch)
    bursts.report_next_run(
        burst.message,
        {"end": "succeeded", "result": last.retstr, "runtime": last.runtime},
        {"id": name, "task": task_id, "args": args, "retries": claim.retry_count},
    )
    request = {
        **headers,
        "id": name,
        "task": task_id,
        "args": args,
        "argsrepr": publish.args_text(*args),
        "retries": claim.retry_count,
        "root_id": claim.execution_id,
        "correlation_id": name,
    }
    return _tracers[task_id](name, args, {}, request)


def report_join(claim: Claim, task_id: str) -> None:
    """The message of a join names its job. Tell the main process which Execution it runs."""
    if _current is not None:
        bursts.report_next_run(
            _current.message,
            {"end": "released"},
            {
                "id": publish.message_id(claim.execution_id, claim.dispatch),
                "task": task_id,
                "args": (claim.execution_id, claim.dispatch),
                "retries": 0,
            },
        )


def claim_of(execution: str, dispatch: int) -> Claim | None:
    """The claim of this run, if the finish of the one before has made it."""
    claim = _current.claim if _current is not None else None
    if claim is None or (claim.execution_id, claim.dispatch) != (execution, dispatch):
        return None
    return claim


def next_claim() -> NextClaim | None:
    """What the finish of the current run may claim; None if the burst ends with it."""
    burst = _current
    now, shared = time.monotonic(), bursts.shared
    if burst is None or not burst.roles or now >= burst.ends or shared.is_stopped:
        return None
    bursts.note_busy(now)
    if now >= shared.looked_at + LOOK_SECONDS:
        shared.looked_at = now
        shared.most_urgent = publish.most_urgent_waiting(burst.roles)
        shared.lacks_tasks = lacks_tasks_of(burst.roles)
    if shared.lacks_tasks:
        return None
    token = f"{burst.message}:{uuid.uuid4().hex[:8]}"
    return NextClaim(token, burst.worker, burst.roles, shared.most_urgent, yields=now >= burst.yields_at)


def wait_for_core() -> None:
    """Wait before a claim while short runs keep all cores busy: a process more would slow down all."""
    burst = _current
    if burst is None or not bursts.shared.exceeds_cores:
        return
    began = now = time.monotonic()
    while has_to_wait(burst, now, began + LONGEST_WAIT_SECONDS):
        time.sleep(LOOK_FOR_CORE_SECONDS)
        now = time.monotonic()
    if now > began or bursts.count_busy(now):
        # Otherwise all that wait would go on at once, before the first of them has ended a run.
        bursts.note_busy(now)


def has_to_wait(burst: Burst, now: float, until: float) -> bool:
    """Whether all cores are busy. What is urgent waits for none, and a worker that stops ends soon."""
    if burst.level == publish.LEVELS[0] or bursts.shared.is_stopped or now >= until:
        return False
    return bursts.count_busy(now) >= bursts.number_of_cores()


def lacks_tasks_of(roles: Sequence[str]) -> bool:
    """Whether the next job of these roles could be of a Task that this worker does not have."""
    try:
        return catalogue.lacks_tasks_of(roles)
    except (DatabaseError, InterfaceError):
        return True


def follow(next_run: tuple[str, Claim] | None) -> None:
    """Go on with this run when the current one has returned."""
    if _current is not None:
        _current.next_run = next_run


def has_next_run() -> bool:
    return _current is not None and _current.next_run is not None
