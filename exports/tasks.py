"""The Task that renders an export. It reports progress over the stream, and its end through the engine."""

import logging
import time
from typing import Any, BinaryIO

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from dure import Context, FailureType, Stopped, TaskFailure, task
from exports import retention
from exports.failures import BadReplay, text
from exports.files import NO_SPACE, AlreadyThere, PathRefused, Placed, Store, checksum, split
from exports.messages import PROGRESS, Progress
from exports.models import ExportJob, Replay
from exports.render.faststart import index_first
from exports.render.produce import produce
from exports.render.progress import Cancelled, Meter, Report
from exports.states import TERMINAL, ErrorCode, JobType, Phase
from jobs import redis

log = logging.getLogger(__name__)

# How long no progress is sent after an error of Redis: rendering must not wait for it.
PAUSE_SECONDS = 5.0


# No retries: what fails once fails again. After a worker's death the run still starts again (on_lost).
@task("exports.render", role="export", timeout=2 * 3600, max_retries=0, public=False)
def render(ctx: Context, job_id: int) -> dict[str, Any]:
    """Renders a video or a picture of a replay."""
    job = ExportJob.objects.select_related("replay").get(pk=job_id)
    if job.status in TERMINAL:
        raise TaskFailure("The export has ended already.", FailureType.CANCELLED)
    try:
        placed, note = render_file(job, Meter(Reporter(ctx, job.pk), lambda: ctx.cancelled))
    except Cancelled:
        raise TaskFailure("The export was cancelled.", FailureType.CANCELLED) from None
    except Stopped:
        raise
    except BadReplay as bad:
        code = ErrorCode.TOO_LARGE if bad.too_large else ErrorCode.BAD_REPLAY
        raise failure(code, str(bad)) from None
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        raise failure(ErrorCode.DISK_FULL, text("disk_full")) from None
    uri = str(settings.DURE_EXPORT_PATH.joinpath(*job.output))
    if note:
        ctx.logger.warning(note)
    return {"resultUri": uri, "checksum": placed.sha256, "sizeBytes": placed.size, "note": note}


def render_file(job: ExportJob, meter: Meter) -> tuple[Placed, str]:
    """Renders in a workspace, then places the complete file; a partial file is never in its place.

    Answers also what is wrong with the file although it was made, or an empty text."""
    exports = Store(settings.DURE_EXPORT_PATH)
    with open_replay(job.replay) as source, exports.workspace() as folder:
        rendered = folder / "out"
        code = produce(JobType(job.job_type), source, rendered, meter, job.options)
        note = text(code) if code else ""
        size = rendered.stat().st_size
        meter.at(Phase.FINALIZING, 0, size)
        try:
            with rendered.open("rb") as file:
                video = index_first(file)
                placed = exports.place(
                    job.output, video, lambda copied: meter.at(Phase.FINALIZING, copied, size)
                )
        except AlreadyThere:
            # An earlier start of the same run placed it and died before it could report.
            with exports.open(job.output) as earlier:
                placed = checksum(earlier)
        return placed, note


def open_replay(replay: Replay) -> BinaryIO:
    store = Store(settings.DURE_REPLAY_PATH)
    try:
        return store.open(split(store.root, replay.path))
    except (FileNotFoundError, PathRefused):
        raise failure(ErrorCode.REPLAY_MISSING, text("replay_missing")) from None


def failure(code: ErrorCode, message: str) -> TaskFailure:
    """A failure that is not retried. The result message takes the code from the front of it."""
    kind = FailureType.ERROR if code == ErrorCode.DISK_FULL else FailureType.INVALID_ARGS
    return TaskFailure(f"{code.value}: {message}", kind)


class Reporter:
    """Sends progress to the stream, as any worker does, and to the engine."""

    def __init__(self, ctx: Context, job_id: int) -> None:
        self._ctx, self._job_id = ctx, job_id
        self._paused_until = 0.0

    def __call__(self, report: Report) -> None:
        self._ctx.progress(report.progress / 100, report.message())
        if time.monotonic() < self._paused_until:
            return
        message = Progress(self._job_id, report.progress, report.phase.value, report.message())
        try:
            redis.client().xadd(PROGRESS, message.fields())  # type: ignore[arg-type]
        except redis.ERRORS as error:
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            log.warning("could not send the progress of export %s: %s", self._job_id, error)


@shared_task(name="dure.prune_exports", ignore_result=True)  # type: ignore[untyped-decorator]
def prune_exports() -> None:
    """Deletes old exports; a PeriodicTask calls it on the control queue."""
    retention.prune(timezone.now())
