"""An export as the pages show it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from exports import display, failures, links
from exports.files import PathRefused
from exports.models import ExportJob, ExportLink
from exports.pages.forms import LinkForm
from exports.pages.wait_status import WaitStatus, wait_statuses
from exports.results import open_result
from exports.states import LIVE, JobType, Status
from jobs.display import Text


@dataclass(frozen=True)
class ExportRow:
    """A row of the list, and the part of a page that scripts refresh."""

    job: ExportJob
    wait: WaitStatus | None
    now: datetime

    @property
    def kind(self) -> Text:
        return display.KIND_NAMES[self.job.job_type]

    @property
    def live(self) -> bool:
        return self.job.status in LIVE

    @property
    def running(self) -> bool:
        return self.job.status == Status.RUNNING

    @property
    def has_started(self) -> bool:
        """An export that was cancelled before it began has the same time for both."""
        return self.job.started_at is not None and self.job.started_at != self.job.ended_at

    @property
    def phase(self) -> Text:
        return display.PHASE_NAMES.get(self.job.phase, self.job.phase)

    @property
    def seconds_left(self) -> int | None:
        return self.job.seconds_left(self.now)

    @property
    def is_picture(self) -> bool:
        return self.job.job_type == JobType.THUMBNAIL

    # The page of one export shows these too.

    @property
    def is_animation(self) -> bool:
        return self.job.job_type == JobType.GIF

    @property
    def part(self) -> tuple[int, int | None] | None:
        """Start and end in milliseconds; None for the whole replay."""
        job = self.job
        if not job.from_ms and job.to_ms is None:
            return None
        return job.from_ms or 0, job.replay.duration_ms if job.to_ms is None else job.to_ms

    @property
    def links(self) -> list[tuple[ExportLink, str]]:
        """The links that have not expired, with their URLs."""
        return [(link, links.url_of(link)) for link in links.live(self.job, self.now)]

    @property
    def link_form(self) -> LinkForm:
        return LinkForm()

    @property
    def failed(self) -> bool:
        return self.job.status == Status.FAILED

    @property
    def reason(self) -> str:
        """The stored failure in the reader's language; empty when it is a foreign worker's own text."""
        return failures.translate_text(self.job.error_message, gettext)

    @property
    def note(self) -> str:
        """What is wrong with the file although it was made, in the reader's language."""
        if self.job.status != Status.SUCCEEDED:
            return ""
        return failures.translate_text(self.job.message, gettext) or self.job.message

    @property
    def file_missing(self) -> bool:
        """Whether a download would not find the recorded file."""
        if not self.job.has_file:
            return False
        try:
            open_result(self.job).close()
        except (OSError, PathRefused):
            return True
        return False

    @property
    def poster(self) -> str:
        """The URL of a thumbnail of the same replay, which the player shows before it plays."""
        if self.job.job_type not in (JobType.MP4, JobType.WEBM) or not self.job.has_file:
            return ""
        thumbnails = ExportJob.objects.filter(
            replay_id=self.job.replay_id, job_type=JobType.THUMBNAIL, status=Status.SUCCEEDED, expired_at=None
        )
        newest = thumbnails.order_by("-id").first()
        return (newest and newest.result_url) or ""


def export_rows(jobs: Sequence[ExportJob], now: datetime) -> list[ExportRow]:
    waits = wait_statuses(jobs, now)
    return [ExportRow(job, waits.get(job.pk), now) for job in jobs]
