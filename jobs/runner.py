"""Runs one message: claim → run → outcome → settle → report.

A message that may not claim is dropped. Every run ends in one settlement: by success, or by `retry()` when
Celery's autoretry catches the failure, or by `on_failure()` when it does not.

Not guaranteed: that a body runs once. A worker can die after the body's last effect and before the
settlement; then the body starts again, and what it calls outside needs the idempotency key.
"""

import contextlib
import logging
import signal
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from celery import Task as CeleryTask
from celery.exceptions import Ignore, Retry, SoftTimeLimitExceeded
from django.conf import settings
from django.db import transaction
from pydantic import ValidationError

from dure import Context, Stopped, TaskFailure, failures
from dure.failures import RETRYABLE, FailureType
from dure.results import encode_result
from jobs import burst, counters, deadline, joins, lifecycle, publish, registry, tracebacks
from jobs.answers import Claim, Settlement
from jobs.context import RunContext
from jobs.errors import Fenced, Held, NotOnThisWorker, in_english
from jobs.redaction import Redactor
from jobs.run_data import resolve_args
from jobs.run_logs import capture
from jobs.sql import call, statements
from jobs.states import TRIGGERS_OF_JOBS, ExecutionStatus, Outcome
from jobs.subprocesses import orphans

log = logging.getLogger(__name__)

# A soft time limit that comes this much before the deadline is a cancel, or was meant for another run.
EARLY_SECONDS = 0.5
# Celery's own signal handler raises the first, before the body is entered; a body may raise the second again.
STOPPED = (SoftTimeLimitExceeded, Stopped)
# The exit codes of billiard's pool processes that one of these signals has stopped.
TERMINATED = {-(256 - number) for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT, signal.SIGHUP)}
# Why a message has no end of its own. EngineRequest sends the event that tells Flower.
CANCELLED, DUPLICATE, FENCED, HELD = "cancelled", "duplicate", "fenced", "held"
GIVEN_BACK = "given back"


@dataclass
class Run:
    """One attempt, from its claim to its settlement."""

    claim: Claim
    settled: bool = False
    # Values from the body for the handler of the attempt's end: see Context.extra.
    extra: Any = None


class EngineTask(CeleryTask):  # type: ignore[misc]
    """The base of every registered Task: autoretry decides whether, the row decides when."""

    abstract = True
    Request = "jobs.worker.request:EngineRequest"

    def retry(self, *args: object, exc: BaseException | None = None, **options: object) -> Any:
        """Celery's autoretry calls this for a failure that it retries.

        Writes the attempt's end and the next one's time in one transaction, and publishes nothing:
        a message with an ETA would wait in some worker's memory and die with it.
        """
        run: Run | None = getattr(self.request, "run", None)
        if run is None or exc is None or run.settled:
            raise exc or Ignore()
        settlement = settle_failure(self.name, run, exc, again=True)
        if settlement is None:
            raise Ignore(FENCED)
        if settlement.state == ExecutionStatus.CANCELLED:
            raise Ignore(CANCELLED)
        if settlement.state == ExecutionStatus.PENDING:
            raise Retry(f"{type(exc).__name__}: {exc}", exc=exc)
        raise exc

    def on_failure(
        self, exc: BaseException, task_id: str, args: object, kwargs: object, einfo: object
    ) -> None:
        """Celery calls this for a failure without a retry."""
        run: Run | None = getattr(self.request, "run", None)
        if run is not None and not run.settled:
            settle_failure(self.name, run, exc, again=False)


def run(celery_task: CeleryTask, execution_id: str, dispatch: int) -> None:
    """Run the message that Celery delivered, or a run that the one before has brought along."""
    request = celery_task.request
    stopped = None
    claim = burst.claim_of(execution_id, dispatch)
    if claim is None:
        claim_it = claim_call(celery_task, execution_id, dispatch)
        with contextlib.suppress(SoftTimeLimitExceeded):
            # Nothing is claimed yet: the signal is for the run before, or this one has been cancelled.
            burst.wait_for_core()
        try:
            claim = claim_it()
        except SoftTimeLimitExceeded as early:
            # The claim may have been committed: the same token returns the same answer.
            stopped = early
            claim = claim_it()
    if claim is None:
        counters.add(counters.DUPLICATES)
        log.debug("dropped a duplicate of %s, dispatch %s", execution_id, dispatch)
        raise Ignore(CANCELLED if lifecycle.has_been_cancelled(execution_id) else DUPLICATE)
    current = request.run = Run(claim)
    try:
        deadline.resume_signals()
        if stopped is not None:
            raise stopped
        with deadline.within(claim.timeout_ms / 1000):
            perform(celery_task.name, current)
    except Fenced:
        current.settled = True
        counters.add(counters.FENCED)
        log.warning("fenced: this worker no longer owns %s, fence %s", execution_id, claim.fence)
        raise Ignore(FENCED) from None
    finally:
        orphans.end_programs()


def claim_call(celery_task: CeleryTask, execution_id: str, dispatch: int) -> Callable[[], Claim | None]:
    """The call that claims what the message names: its Execution, or the job of a join."""
    request = celery_task.request
    values = {"token": f"{request.id}:{uuid.uuid4().hex[:8]}", "worker": request.hostname or ""}

    def claim_join() -> Claim | None:
        claim = lifecycle.claim_join(execution_id, **values)
        if claim is not None:
            burst.report_join(claim, celery_task.name)
        return claim

    def claim() -> Claim | None:
        try:
            if dispatch == joins.DISPATCH:
                return claim_join()
            early = bool(request.get(publish.EARLY))
            return lifecycle.claim(execution_id, dispatch, early=early, **values)
        except Held:
            log.info("%s may not start yet", execution_id)
            raise Ignore(HELD) from None

    return claim


def perform(task_id: str, current: Run) -> None:
    """Run the body and settle its success. A failure leaves as the exception that it was."""
    task = registry.find(task_id)
    context = RunContext(current, logging.getLogger(f"dure.task.{task_id}"))
    try:
        if task.atomic:
            perform_atomic(task, context, current)
        else:
            settle_success(current, call_body(task, context, current))
    except NotOnThisWorker as lacking:
        give_back(task_id, current, str(lacking))


def give_back(task_id: str, current: Run, lacking: str) -> NoReturn:
    """Let another worker of the role run it: see jobs/worker/give_back.py."""
    claim = current.claim
    if lifecycle.give_back(claim.execution_id, claim.fence):
        current.settled = True
        log.warning("gave back a run of %s: this worker does not have %s", task_id, lacking)
        raise Ignore(GIVEN_BACK) from None
    settle_failure(task_id, current, TaskFailure("Cancelled."), again=False)
    raise Ignore(CANCELLED) from None


def perform_atomic(task: registry.Task, context: Context, current: Run) -> None:
    """Commit the body's writes, the result and the check of the fence together, or none of them."""
    with transaction.atomic():
        call.change(statements.ALLOW_IDLE)
        settlement = settle_success(current, call_body(task, context, current))
        accepted = settlement.state == ExecutionStatus.SUCCESS
        if not accepted:
            transaction.set_rollback(True)
    if not accepted:
        # Cancelled meanwhile: its end was rolled back with the body's writes, and is written again.
        settle_failure(task.task_id, current, TaskFailure("Cancelled."), again=False)


def call_body(task: registry.Task, context: Context, current: Run) -> str:
    """The body's result, as JSON."""
    if current.claim.trigger in TRIGGERS_OF_JOBS:
        args = resolve_args(current.claim.execution_id, current.claim.args)
        current.claim = replace(current.claim, args=args)
    try:
        with capture.output_of(current.claim):
            result = task.call(context, current.claim.args)
    except SystemExit as leaving:
        if leaving.code in TERMINATED:
            raise  # the pool is stopping, and the run is released
        raise TaskFailure(f"The body called sys.exit({leaving.code!r}).") from None
    return encode_result(result, settings.DURE_MAX_RESULT_BYTES)


def settle_success(current: Run, result: str) -> Settlement:
    claim = current.claim
    # A signal that came after the commit would lose the run that is brought along.
    deadline.hold_signals()
    try:
        settlement = lifecycle.finish(
            claim.execution_id,
            claim.fence,
            Outcome.SUCCESS,
            trigger=claim.trigger,
            source=claim.source,
            result=result,
            extra=current.extra,
            next_claim=burst.next_claim(),
        )
        current.settled = True
        if settlement is not None:
            burst.follow(settlement.next_run)
    finally:
        deadline.drop_signals()
        if not burst.has_next_run():
            deadline.resume_signals()
    if settlement is None:
        raise Fenced()
    return settlement


def settle_failure(task_id: str, current: Run, exc: BaseException, *, again: bool) -> Settlement | None:
    claim = current.claim
    failure = classify(exc)
    outcome = Outcome.TIMEOUT if failure == FailureType.TIMEOUT else Outcome.FAILURE
    if isinstance(exc, STOPPED) and time.time() < claim.deadline.timestamp() - EARLY_SECONDS:
        # Stopped before its time: by a cancel, or by a signal that was meant for the run before.
        outcome, failure = Outcome.LOST, FailureType.WORKER_LOST
    task = registry.find(task_id)
    delay = None
    if again and failure in RETRYABLE:
        delay = task.delay_ms(claim.retry_backoff, claim.retry_base_delay_ms, claim.retry_count)
    settlement = lifecycle.finish(
        claim.execution_id,
        claim.fence,
        outcome,
        trigger=claim.trigger,
        failure_type=failure,
        error=describe(exc),
        traceback=tracebacks.format_traceback(exc, Redactor(claim.args)),
        delay_ms=delay,
        extra=current.extra,
    )
    current.settled = True
    if settlement is None:
        log.warning("fenced: the failure of %s, fence %s, was not accepted", claim.execution_id, claim.fence)
    elif settlement.state == ExecutionStatus.CANCELLED and task.on_cancel is not None:
        task.on_cancel(claim.execution_id, claim.args)
    return settlement


def classify(exc: BaseException) -> str:
    return FailureType.TIMEOUT if isinstance(exc, STOPPED) else failures.classify(exc)


def describe(exc: BaseException) -> str:
    if isinstance(exc, STOPPED):
        return failures.TIMED_OUT
    if isinstance(exc, ValidationError):
        return "; ".join(map(in_english, registry.describe_errors(exc)))
    return failures.describe(exc)
