"""Names that people read for the states, types and errors of exports, and advice about errors."""

from django.utils.translation import gettext_lazy as _

from exports.models import DeadLetter
from exports.states import ErrorCode, JobType, Phase, Status
from jobs.display import Label, Text, register_state_labels

register_state_labels(
    {
        Status.QUEUED: Label(_("Queued"), "◇", "ready"),
        Status.SUCCEEDED: Label(_("Succeeded"), "✓", "good"),
        DeadLetter.State.OPEN: Label(_("Open"), "●", "late"),
        DeadLetter.State.REPUBLISHED: Label(_("Sent again"), "↻", "good"),
        DeadLetter.State.DISCARDED: Label(_("Discarded"), "⊘"),
    }
)

KIND_NAMES: dict[str, Text] = {
    JobType.MP4: _("MP4 video"),
    JobType.WEBM: _("WebM video"),
    JobType.GIF: _("Animated GIF"),
    JobType.THUMBNAIL: _("Thumbnail"),
}
PHASE_NAMES: dict[str, Text] = {phase.value: phase.label for phase in Phase}
FORMAT_NAMES: dict[str, Text] = {
    "eventlog": _("event log"),
    "mp4": "MP4, MOV",
    "matroska": "WebM, Matroska",
    "avi": "AVI",
}
ADVICE: dict[str, Text] = {
    ErrorCode.BAD_REPLAY: _("Fix the file and upload it again."),
    ErrorCode.TOO_LARGE: _("Make the replay smaller or shorter, and upload it again."),
    ErrorCode.REPLAY_MISSING: _("Upload the replay again."),
    ErrorCode.DISK_FULL: _("Export again once an operator has freed disk space."),
    ErrorCode.STALLED: _("Export again. If that does not help, an operator should check the workers."),
    ErrorCode.WORKER_LOST: _("Export again. If that does not help, the replay may be the cause."),
    ErrorCode.TIMEOUT: _("A shorter replay may succeed."),
    ErrorCode.INVALID_OUTPUT_PATH: _("The worker that made the file must be fixed."),
    ErrorCode.OUTPUT_MISSING: _("Check the worker that made the file, and the shared disk."),
    ErrorCode.CHECKSUM_MISMATCH: _("The worker that made the file must be fixed."),
    ErrorCode.RENDER_FAILED: _("Export again. If that does not help, see the log of the worker."),
}


def error_name(code: str) -> Text:
    return ErrorCode(code).label if code in ErrorCode.values else _("Error of a foreign worker")


def advice(code: str) -> Text:
    return ADVICE.get(code, _("The code is the worker's own: ask the operator of that worker."))
