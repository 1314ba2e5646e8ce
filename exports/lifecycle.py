"""Every transition of an export, in the order in which an export lives them.

request → accept_request → apply_messages (progress, then one result); beside these: cancel, fail_stalled and
republish_requests. Views, the listener and the admin call these functions and change no row themselves. Each
runs in one transaction, guarded by the state that it expects; losing a race is normal.

Lock order: jobs ascending, then the owners' event feeds ascending, then an Execution.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils.timezone import localtime

from exports import deadletters, events, failures, options, outbox, quota, sql
from exports.deadletters import DeadLetterIn
from exports.messages import CONTROL, REQUESTS, Progress, Request, Result, cancel_message
from exports.models import ExportEvent, ExportJob, Replay, StreamOutbox
from exports.render.options import DEFAULTS, RenderOptions
from exports.results import Verdict, names_file
from exports.states import LIVE, TERMINAL, ErrorCode, JobType, Status
from exports.streams import Entry
from exports.transitions import State, advance, settle
from jobs import activity, registry
from jobs import lifecycle as engine
from jobs.errors import Conflict
from jobs.models import Execution
from jobs.specs import ExecutionSpec
from jobs.sql import call
from jobs.states import EXECUTION_LIVE, Act, Trigger

RENDER = "exports.render"
NO_SUCH_JOB = "there is no such job"


@dataclass(frozen=True, slots=True)
class Received:
    """A message that was parsed, and where it stood."""

    entry: Entry
    message: Progress | Result


# --- request, accept_request: how an export begins ------------------------------------------------


def request(replay: Replay, job_type: JobType, now: datetime, render: RenderOptions = DEFAULTS) -> ExportJob:
    """Creates an export and puts its request into the outbox: both, or neither."""
    options.check(job_type, render, replay.duration_ms)
    quota.check(replay.owner_id, 1)
    with transaction.atomic():
        job = ExportJob.objects.create(
            job_type=job_type, owner_id=replay.owner_id, replay=replay, created_at=now, **render.values()
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
        render=job.options,
    )


def accept_request(message: Request) -> str:
    """Starts an Execution for a request. Answers why the request is not acceptable, or an empty text.

    Only the jobId of the message is trusted; everything else must match the row.
    """
    with transaction.atomic():
        locked = ExportJob.objects.select_for_update(no_key=True, of=("self",))
        job = locked.filter(pk=message.job_id).first()
        if job is None:
            return NO_SUCH_JOB
        if request_message(job) != message:
            return "the request does not match the job"
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


# --- apply_messages: progress and results of any worker -------------------------------------------


def apply_messages(
    batch: Sequence[Received],
    unparsable: Sequence[DeadLetterIn],
    verdicts: Mapping[str, Verdict],
    now: datetime,
) -> int:
    """Applies a batch in its order and dead-letters what cannot be applied: all of it, or nothing.

    A repeated or late message changes nothing and is no error. `verdicts` are on the files of the results, by
    the ids of the messages. Answers how many messages were dead-lettered.
    """
    rejected, new_events = list(unparsable), list[ExportEvent]()
    with transaction.atomic():
        jobs = _lock({received.message.job_id for received in batch})
        changed: set[int] = set()
        for received in batch:
            message, verdict = received.message, verdicts.get(received.entry.id)
            job = jobs.get(message.job_id)
            # A job that did not exist when its result was checked has no verdict.
            if job is None or (verdict is None and job.status in LIVE and names_file(message)):
                rejected.append(DeadLetterIn(received.entry, NO_SUCH_JOB))
                continue
            reason = _apply(job, message, verdict, now)
            if reason is None:
                continue
            changed.add(job.pk)
            new_events.append(events.new_event(job, now))
            if reason:
                rejected.append(DeadLetterIn(received.entry, reason))
        _write(jobs, changed, now)
        events.store(new_events)
        _cancel_runs(jobs[job_id] for job_id in sorted(changed) if jobs[job_id].status in TERMINAL)
        return deadletters.dead_letter(rejected, now)


def _lock(job_ids: Iterable[int]) -> dict[int, ExportJob]:
    """Ascending, so that two listeners with the same jobs wait for each other instead of deadlocking."""
    rows = ExportJob.objects.filter(pk__in=sorted(job_ids)).order_by("pk").select_for_update(no_key=True)
    return {job.pk: job for job in rows}


def _apply(job: ExportJob, message: Progress | Result, verdict: Verdict | None, now: datetime) -> str | None:
    """Apply a message; None if it changes nothing. Otherwise the reason to show it to operators, or ""."""
    state = State(Status(job.status), job.progress, job.phase)
    if isinstance(message, Progress):
        after = advance(state, message)
        if after is not None:
            _move(job, after, now)
            job.message = message.message
        return None if after is None else ""
    refusal = verdict.error if verdict else None
    if refusal is not None:
        message = Result(message.job_id, Status.FAILED, error_code=refusal[0], error_message=refusal[1])
    after = settle(state, message)
    if after is None:
        return None
    _move(job, after, now)
    if after.status == Status.SUCCEEDED and verdict:
        job.result_uri, job.result_size = "/".join(verdict.parts), verdict.size
        job.result_checksum, job.message = message.checksum, message.error_message
    elif after.status == Status.FAILED:
        job.error_code = message.error_code or ErrorCode.RENDER_FAILED
        job.error_message = message.error_message
    return ": ".join(refusal) if refusal else ""


def _move(job: ExportJob, after: State, now: datetime) -> None:
    job.status, job.progress, job.phase, job.message = after.status, after.progress, after.phase, ""
    job.started_at = job.started_at or now
    job.heard_at = now
    job.ended_at = now if after.status in TERMINAL else None


COLUMNS = (
    "status", "progress", "phase", "message", "error_code", "error_message", "result_uri", "result_checksum",
    "result_size",
)  # fmt: skip


def _write(jobs: dict[int, ExportJob], changed: set[int], now: datetime) -> None:
    rows = [
        {
            "job_id": job_id,
            "ended": jobs[job_id].status in TERMINAL,
            **{name: getattr(jobs[job_id], name) for name in COLUMNS},
        }
        for job_id in sorted(changed)
    ]
    if rows:
        call.change(sql.WRITE_STATES, {"changes": call.as_json(rows), "now": now})
    unchanged = [job.pk for job in jobs.values() if job.pk not in changed and job.status == Status.RUNNING]
    write_heard_at(unchanged, now)


def _cancel_runs(ended_jobs: Iterable[ExportJob]) -> None:
    """Stop the runs whose exports were ended by a foreign worker. A run of ours reports after its end."""
    if runs := [job.execution_id for job in ended_jobs if job.execution_id]:
        live = Execution.objects.filter(pk__in=runs, status__in=EXECUTION_LIVE)
        for run in live.order_by("pk").values_list("pk", flat=True):
            engine.cancel_execution(run)


def write_heard_at(job_ids: Iterable[int], now: datetime) -> None:
    """These exports have not stalled: a message about them has arrived, or is being checked."""
    if ids := sorted(job_ids):
        call.change(sql.WRITE_HEARD_AT, [now, ids])


# --- cancel, fail_stalled: ends that no worker reported -------------------------------------------


def cancel(job_id: int, now: datetime) -> ExportJob:
    """Final at once: later messages about the export are ignored, and its worker is told to stop."""
    with transaction.atomic():
        job = _lock([job_id])[job_id]
        if job.status in TERMINAL:
            raise Conflict("export_ended", code="ended")
        # An unsent request is deleted, since a worker would render a cancelled export.
        StreamOutbox.objects.filter(stream=REQUESTS, fields__jobId=str(job_id)).delete()
        _end(job, Result(job.pk, Status.CANCELLED), now)
        activity.record(Act.EXPORT_CANCELLED, owner=job.owner_id, export=job.pk)
    return job


def fail_stalled(now: datetime, limit: timedelta, job_type: JobType) -> int:
    """RUNNING exports of this type without a message for longer than the limit → FAILED.

    Only for a listener that has itself read the streams for as long.
    """
    with transaction.atomic():
        stalled = [row[0] for row in call.rows(sql.STALLED, [job_type.value, now - limit])]
        message = failures.text("stalled", seconds=int(limit.total_seconds()))
        for job in ExportJob.objects.filter(pk__in=stalled).order_by("pk"):
            _end(job, Result(job.pk, Status.FAILED, "", "", ErrorCode.STALLED, message), now)
    return len(stalled)


def _end(job: ExportJob, result: Result, now: datetime) -> None:
    """End an export that the caller has locked and that is live."""
    _apply(job, result, None, now)
    _write({job.pk: job}, {job.pk}, now)
    events.store([events.new_event(job, now)])
    if job.execution_id:
        engine.cancel_execution(job.execution_id)
    else:
        outbox.put([(CONTROL, cancel_message(job.pk))], now)


# --- republish_requests ---------------------------------------------------------------------------


def republish_requests(now: datetime) -> int:
    """Resend requests that no worker has accepted, with the same jobId, after Redis has lost its data."""
    with transaction.atomic():
        ids = [row[0] for row in call.rows(sql.UNREQUESTED)]
        jobs = (
            ExportJob.objects.filter(pk__in=ids, status=Status.QUEUED).select_related("replay").order_by("pk")
        )
        outbox.put([(REQUESTS, request_message(job).fields()) for job in jobs], now)
    return len(ids)
