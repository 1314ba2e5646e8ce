"""Every transition of an export, in the order in which one lives them.

request → take → hear (progress, then one result) and beside that way: cancel, stall, requeue,
reconcile. Views, the listener, the admin and the engine's end handler call these verbs and change no
row themselves. Each is one transaction, guarded by the state it expects; losing a race is normal.

Lock order: jobs ascending, then the owners' feeds ascending, then an Execution.
"""

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils.timezone import localtime

from exports import deadletters, failures, outbox, pubsub, serialize, sql
from exports.deadletters import Letter
from exports.files import Store
from exports.messages import REQUESTS, RESULTS, Progress, Request, Result
from exports.models import ExportEvent, ExportJob, Replay, StreamOutbox
from exports.results import Verdict, inspect, report_of
from exports.states import TERMINAL, ErrorCode, JobType, Status
from exports.transitions import State, advance, settle
from jobs import lifecycle as engine
from jobs import registry
from jobs.answers import Settlement
from jobs.errors import Conflict
from jobs.specs import ExecutionSpec
from jobs.sql import call
from jobs.states import Trigger

log = logging.getLogger(__name__)

RENDER = "exports.render"
EVENT_TYPES = {
    Status.RUNNING: "job.progress",
    Status.SUCCEEDED: "job.completed",
    Status.FAILED: "job.failed",
    Status.CANCELLED: "job.cancelled",
}
LOST_AFTER = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Heard:
    """A message that was understood, and where it stood."""

    stream: str
    id: str
    raw: dict[bytes, bytes]
    message: Progress | Result


@dataclass(slots=True)
class Tally:
    """What a batch did, for the log and the metrics."""

    applied: int = 0
    ignored: int = 0
    buried: int = 0


# --- request, take: how an export begins ----------------------------------------------------------


def request(replay: Replay, job_type: JobType, now: datetime) -> ExportJob:
    """A new export, and its request in the outbox: both, or neither."""
    with transaction.atomic():
        job = ExportJob.objects.create(
            job_type=job_type, owner_id=replay.owner_id, replay=replay, created_at=now
        )
        outbox.put([(REQUESTS, request_message(job).fields())], now)
    return job


def request_message(job: ExportJob) -> Request:
    return Request(
        job_id=job.pk,
        job_type=JobType(job.job_type),
        replay_id=job.replay_id,
        input_path=str(settings.DURE_REPLAY_PATH / job.replay.path),
        output_path=str(settings.DURE_EXPORT_PATH.joinpath(*job.output)),
        duration_ms=job.replay.duration_ms,
        owner_id=job.owner_id,
        created_at=localtime(job.created_at).isoformat(),
    )


def take(asked: Request) -> str:
    """Our worker side takes a request: an Execution of the engine. Answers why not, else nothing.

    Only the jobId of the message is believed; what it says beside that must be what the row says.
    """
    with transaction.atomic():
        job = ExportJob.objects.select_for_update(no_key=True, of=("self",)).filter(pk=asked.job_id).first()
        if job is None:
            return "there is no such job"
        if request_message(job) != asked:
            return "the request does not say what the job says"
        if job.status != Status.QUEUED or job.execution_id is not None:
            return ""  # taken before, or ended: a repeated request has no effect
        spec = ExecutionSpec.for_task(
            registry.find(RENDER),
            trigger=Trigger.EXPORT,
            args={"job_id": job.pk},
            source=str(job.pk),
            retry_base_delay_ms=1_000,
        )
        engine.start_executions([spec])
        job.execution_id = spec.id
        job.save(update_fields=["execution_id"])
    return ""


# --- hear: what workers say, ours or others' ------------------------------------------------------


def hear(batch: Sequence[Heard], letters: Sequence[Letter], now: datetime) -> Tally:
    """Applies a batch of messages in its order, and buries what cannot be applied. All of it, or nothing.

    A message that came before, or too late, changes nothing and is no error.
    """
    store = Store(settings.DURE_EXPORT_PATH)
    # Files are looked at before anything is locked.
    verdicts = {one.id: inspect(store, one.message) for one in batch if isinstance(one.message, Result)}
    tally, buried, events = Tally(), list(letters), list[ExportEvent]()
    with transaction.atomic():
        jobs = _locked({one.message.job_id for one in batch})
        changed: set[int] = set()
        for one in batch:
            job = jobs.get(one.message.job_id)
            if job is None:
                buried.append(Letter(one.stream, one.id, one.raw, "there is no such job"))
                continue
            effect = _apply(job, one.message, verdicts.get(one.id), now)
            if effect is None:
                tally.ignored += 1
                continue
            tally.applied += 1
            changed.add(job.pk)
            events.append(event_of(job, now))
            if effect:
                buried.append(Letter(one.stream, one.id, one.raw, effect))
        _write(jobs, changed, now)
        tell(events, now)
        tally.buried = deadletters.bury(buried, now)
    return tally


def _locked(job_ids: Iterable[int]) -> dict[int, ExportJob]:
    """Ascending, so that two listeners with the same jobs wait for each other instead of locking up."""
    rows = ExportJob.objects.filter(pk__in=sorted(job_ids)).order_by("pk").select_for_update(no_key=True)
    return {job.pk: job for job in rows}


def _apply(job: ExportJob, message: Progress | Result, verdict: Verdict | None, now: datetime) -> str | None:
    """None: nothing changed. Else why an operator should see the message all the same, or nothing."""
    state = State(Status(job.status), job.progress, job.phase)
    if isinstance(message, Progress):
        after = advance(state, message)
        if after is not None:
            _move(job, after, now)
            job.message = message.message
        return None if after is None else ""
    refusal = verdict.refusal(job.folder) if verdict else None
    if refusal is not None:
        message = Result(message.job_id, Status.FAILED, error_code=refusal[0], error_message=refusal[1])
    after = settle(state, message)
    if after is None:
        return None
    _move(job, after, now)
    if after.status == Status.SUCCEEDED and verdict:
        job.result_uri, job.result_size = "/".join(verdict.parts), verdict.size
        job.result_checksum = message.checksum
    elif after.status == Status.FAILED:
        job.error_code = message.error_code or ErrorCode.RENDER_FAILED
        job.error_message = message.error_message
    return ": ".join(refusal) if refusal else ""


def _move(job: ExportJob, after: State, now: datetime) -> None:
    job.status, job.progress, job.phase, job.message = after.status, after.progress, after.phase, ""
    job.started_at = job.started_at or now
    job.heard_at = now
    job.ended_at = now if after.status in TERMINAL else None


WRITTEN = (
    "status", "progress", "phase", "message", "error_code", "error_message", "result_uri", "result_checksum",
    "result_size",
)  # fmt: skip


def _write(jobs: dict[int, ExportJob], changed: set[int], now: datetime) -> None:
    rows = [
        {
            "job_id": number,
            "ended": jobs[number].status in TERMINAL,
            **{name: getattr(jobs[number], name) for name in WRITTEN},
        }
        for number in sorted(changed)
    ]
    if rows:
        call.change(sql.WRITE_STATES, {"changes": call.as_json(rows), "now": now})
    repeated = [job.pk for job in jobs.values() if job.pk not in changed and job.status == Status.RUNNING]
    if repeated:
        call.change(sql.WRITE_HEARD, [now, repeated])


# --- cancel, stall: ends that no worker reported --------------------------------------------------


def cancel(job_id: int, now: datetime) -> ExportJob:
    """Final at once: what a worker still says of it is ignored, and our own is told to stop."""
    with transaction.atomic():
        job = _locked([job_id])[job_id]
        if job.status in TERMINAL:
            raise Conflict(f"The job has {job.status.lower()} already.", code="ended")
        # A request that has not gone out need not: a foreign worker would work in vain.
        StreamOutbox.objects.filter(stream=REQUESTS, fields__jobId=str(job_id)).delete()
        _end(job, Result(job.pk, Status.CANCELLED), now)
    return job


def stall(now: datetime, limit: timedelta) -> int:
    """RUNNING and not spoken of for too long → FAILED. Only for a listener that hears well itself."""
    with transaction.atomic():
        stalled = [row[0] for row in call.rows(sql.STALLED, [now - limit])]
        seconds = int(limit.total_seconds())
        message = failures.text("stalled", seconds=seconds)
        for job in ExportJob.objects.filter(pk__in=stalled).order_by("pk"):
            _end(job, Result(job.pk, Status.FAILED, "", "", ErrorCode.STALLED, message), now)
    return len(stalled)


def _end(job: ExportJob, result: Result, now: datetime) -> None:
    if _apply(job, result, None, now) is None:
        raise Conflict("The job has ended already.", code="ended")
    _write({job.pk: job}, {job.pk}, now)
    tell([event_of(job, now)], now)
    if job.execution_id:
        engine.cancel_execution(job.execution_id)


# --- requeue, reconcile: what sweeps put right ----------------------------------------------------


def requeue(now: datetime) -> int:
    """Redis has lost its data: ask again for what nobody has taken. The jobId is the same."""
    with transaction.atomic():
        ids = [row[0] for row in call.rows(sql.UNREQUESTED)]
        jobs = (
            ExportJob.objects.filter(pk__in=ids, status=Status.QUEUED).select_related("replay").order_by("pk")
        )
        outbox.put([(REQUESTS, request_message(job).fields()) for job in jobs], now)
    return len(ids)


def reconcile(now: datetime) -> int:
    """A run that ended and whose result did not arrive: report it again."""
    with transaction.atomic():
        found = call.rows(sql.UNREPORTED, [now - LOST_AFTER])
        outbox.put(
            [
                (RESULTS, report_of(job, state, json.loads(result or "null"), failure, error).fields())
                for job, state, result, failure, error in found
            ],
            now,
        )
    return len(found)


def ended(settlement: Settlement, now: datetime) -> None:
    """The engine's run of an export has ended: its result goes out, in the transaction of that end."""
    report = report_of(
        int(settlement.source),
        settlement.state,
        settlement.result,
        settlement.failure_type,
        settlement.error,
    )
    outbox.put([(RESULTS, report.fields())], now)


# --- tell: what the owner's sockets read ----------------------------------------------------------


def event_of(job: ExportJob, now: datetime) -> ExportEvent:
    return ExportEvent(
        owner_id=job.owner_id,
        job_id=job.pk,
        type=EVENT_TYPES[Status(job.status)],
        data=serialize.as_json(job, now),
        at=now,
    )


def tell(events: Sequence[ExportEvent], now: datetime) -> None:
    """After the locks of jobs, never before: an owner's ids then grow in the order of commits."""
    if not events:
        return
    owners = sorted({event.owner_id for event in events})
    call.rows(sql.LOCK_FEEDS, [owners])
    ExportEvent.objects.bulk_create(events)
    pubsub.ring_after_commit(owners)


def forget_events(now: datetime, kept: timedelta = timedelta(days=7), limit: int = 5_000) -> int:
    """Deletes old events, some at a time; how many."""
    old = ExportEvent.objects.filter(at__lt=now - kept).order_by("at").values_list("pk", flat=True)[:limit]
    return ExportEvent.objects.filter(pk__in=list(old)).delete()[0]
