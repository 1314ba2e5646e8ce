"""The statuses of an export, their meaning and their transitions.

    QUEUED ──▶ RUNNING ──▶ SUCCEEDED
       │          ├──────▶ FAILED
       │          └──────▶ CANCELLED
       └─ a result may overtake the first progress message: they travel in two streams

The database, the API, the admin and the documentation take their lists from here.
"""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Status(TextChoices):
    """QUEUED waits for a worker, without limit. RUNNING has had a progress message, and must have the next
    one within the stall limit. The other three are terminal: nothing leaves them."""

    QUEUED = "QUEUED", _("queued")
    RUNNING = "RUNNING", _("running")
    SUCCEEDED = "SUCCEEDED", _("succeeded")
    FAILED = "FAILED", _("failed")
    CANCELLED = "CANCELLED", _("cancelled")


class JobType(TextChoices):
    MP4 = "MP4", _("MP4 video")
    THUMBNAIL = "THUMBNAIL", _("thumbnail")
    WEBM = "WEBM", _("WebM video")
    GIF = "GIF", _("animated GIF")


class Phase(TextChoices):
    """The phase of our worker. Foreign workers may send phases of their own."""

    PREPARING = "PREPARING", _("preparing")
    RENDERING = "RENDERING", _("rendering")
    FINALIZING = "FINALIZING", _("finalizing")


class ErrorCode(TextChoices):
    """The reasons of failed exports: stable codes on which clients may branch."""

    BAD_REPLAY = "BAD_REPLAY", _("Invalid replay")
    TOO_LARGE = "TOO_LARGE", _("Replay too large")
    REPLAY_MISSING = "REPLAY_MISSING", _("Replay file missing")
    DISK_FULL = "DISK_FULL", _("Disk full")
    STALLED = "STALLED", _("Worker stalled")
    WORKER_LOST = "WORKER_LOST", _("Worker lost")
    TIMEOUT = "TIMEOUT", _("Timeout")
    INVALID_OUTPUT_PATH = "INVALID_OUTPUT_PATH", _("Invalid output path")
    OUTPUT_MISSING = "OUTPUT_MISSING", _("Result file missing")
    CHECKSUM_MISMATCH = "CHECKSUM_MISMATCH", _("Checksum mismatch")
    RENDER_FAILED = "RENDER_FAILED", _("Rendering failed")


TERMINAL = frozenset({Status.SUCCEEDED, Status.FAILED, Status.CANCELLED})
LIVE = frozenset(Status) - TERMINAL

TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.QUEUED: frozenset({Status.RUNNING}) | TERMINAL,
    Status.RUNNING: TERMINAL,
    Status.SUCCEEDED: frozenset(),
    Status.FAILED: frozenset(),
    Status.CANCELLED: frozenset(),
}

SUFFIXES = {JobType.MP4: "mp4", JobType.THUMBNAIL: "png", JobType.WEBM: "webm", JobType.GIF: "gif"}
CONTENT_TYPES = {
    JobType.MP4: "video/mp4",
    JobType.THUMBNAIL: "image/png",
    JobType.WEBM: "video/webm",
    JobType.GIF: "image/gif",
}


def may_become(status: Status, target: Status) -> bool:
    return target in TRANSITIONS[status]
