"""The Task that makes an export. Its progress goes out over the stream, its end through the engine."""

import logging
import time
from typing import Any, BinaryIO

from celery import shared_task
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.utils import timezone

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
from jobs.context import Context
from jobs.errors import TaskFailure
from jobs.registry import task
from jobs.states import FailureType

log = logging.getLogger(__name__)

# After Redis did not answer it is left alone for so long: a message is worth no pause of the work.
REST_SECONDS = 5.0


# No retries: what fails once fails again. A worker that died is another matter, and starts anew.
@task("exports.render", role="export", timeout=2 * 3600, max_retries=0, public=False)
def render(ctx: Context, job_id: int) -> dict[str, Any]:
    """Makes the MP4 or the thumbnail of a replay."""
    job = ExportJob.objects.select_related("replay").get(pk=job_id)
    if job.status in TERMINAL:
        raise TaskFailure("The export has ended already.", FailureType.CANCELLED)
    try:
        placed = make(job, Meter(Reporter(ctx, job.pk), lambda: ctx.cancelled))
    except Cancelled:
        raise TaskFailure("The export was cancelled.", FailureType.CANCELLED) from None
    except SoftTimeLimitExceeded:
        raise
    except BadReplay as bad:
        code = ErrorCode.TOO_LARGE if bad.too_large else ErrorCode.BAD_REPLAY
        raise failure(code, str(bad)) from None
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        raise failure(ErrorCode.DISK_FULL, text("disk_full")) from None
    uri = str(settings.DURE_EXPORT_PATH.joinpath(*job.output))
    return {"resultUri": uri, "checksum": placed.sha256, "sizeBytes": placed.size}


def make(job: ExportJob, meter: Meter) -> Placed:
    """Renders in a workspace, then places the whole file. Nothing half-made is ever at its place."""
    exports = Store(settings.DURE_EXPORT_PATH)
    with opened(job.replay) as source, exports.workspace() as folder:
        half_made = folder / "out"
        produce(JobType(job.job_type), source, half_made, meter)
        size = half_made.stat().st_size
        meter.at(Phase.FINALIZING, 0, size)
        try:
            with half_made.open("rb") as made:
                film = index_first(made)
                return exports.place(
                    job.output, film, lambda copied: meter.at(Phase.FINALIZING, copied, size)
                )
        except AlreadyThere:
            # An earlier start of this same run placed it and died before it could say so.
            with exports.open(job.output) as earlier:
                return checksum(earlier)


def opened(replay: Replay) -> BinaryIO:
    store = Store(settings.DURE_REPLAY_PATH)
    try:
        return store.open(split(store.root, replay.path))
    except (FileNotFoundError, PathRefused):
        raise failure(ErrorCode.REPLAY_MISSING, text("replay_missing")) from None


def failure(code: ErrorCode, message: str) -> TaskFailure:
    """A failure that is not retried. The result message takes the code from the front of it."""
    return TaskFailure(f"{code.value}: {message}", FailureType.INVALID_ARGS)


class Reporter:
    """Sends a report to the stream as any worker would, and to the engine, which may know better."""

    def __init__(self, ctx: Context, job_id: int) -> None:
        self._ctx, self._job_id = ctx, job_id
        self._resting_until = 0.0

    def __call__(self, report: Report) -> None:
        self._ctx.progress(report.progress / 100, report.message())
        if time.monotonic() < self._resting_until:
            return
        said = Progress(self._job_id, report.progress, report.phase.value, report.message())
        try:
            redis.client().xadd(PROGRESS, said.fields())  # type: ignore[arg-type]
        except redis.ERRORS as error:
            self._resting_until = time.monotonic() + REST_SECONDS
            log.warning("could not tell the progress of export %s: %s", self._job_id, error)


@shared_task(name="dure.exports", ignore_result=True)  # type: ignore[untyped-decorator]
def keep_house() -> None:
    """Let old exports go, on the control queue: migrations/0003."""
    retention.pass_once(timezone.now())
