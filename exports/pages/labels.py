"""What people read instead of the words of exports: states, kinds, phases, and what to do about an error."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from exports.models import DeadLetter
from exports.states import ErrorCode, JobType, Phase, Status
from jobs.display import Label, register_state_labels
from jobs.errors import Refused
from jobs.pages.refusals import told

Words = str | Promise

register_state_labels(
    {
        Status.QUEUED: Label(_("queued"), "◇", "ready"),
        Status.SUCCEEDED: Label(_("done"), "✓", "good"),
        DeadLetter.State.OPEN: Label(_("open"), "●", "late"),
        DeadLetter.State.REPUBLISHED: Label(_("sent again"), "↻", "good"),
        DeadLetter.State.DISCARDED: Label(_("discarded"), "⊘"),
    }
)

KINDS: dict[str, Words] = {JobType.MP4: _("MP4 video"), JobType.THUMBNAIL: _("Thumbnail")}
PHASES: dict[str, Words] = {one.value: one.label for one in Phase}
FORMATS: dict[str, Words] = {
    "eventlog": _("event log"),
    "mp4": "MP4, MOV",
    "matroska": "WebM, Matroska",
    "avi": "AVI",
}
ADVICE: dict[str, Words] = {
    ErrorCode.BAD_REPLAY: _("Mend the replay and upload it again."),
    ErrorCode.TOO_LARGE: _("Make the replay smaller or shorter, and upload it again."),
    ErrorCode.REPLAY_MISSING: _("Upload the replay again."),
    ErrorCode.DISK_FULL: _("When an operator has made room on the disk, ask for it again."),
    ErrorCode.STALLED: _("Ask for it again. If that does not help, an operator has to look at the workers."),
    ErrorCode.WORKER_LOST: _("Ask for it again. If that does not help, the replay may be to blame."),
    ErrorCode.TIMEOUT: _("A shorter replay may succeed."),
    ErrorCode.INVALID_OUTPUT_PATH: _("Somebody has to mend the worker that made it."),
    ErrorCode.OUTPUT_MISSING: _("Somebody has to look at the worker that made it, or at the shared disk."),
    ErrorCode.RENDER_FAILED: _("Ask for it again. If that does not help, the log of the worker says more."),
}
# What a verb refuses is told in the API's English; these are the same sentences for the pages.
REFUSALS: dict[str, Words] = {
    "ended": _("Nothing to do: the export has ended already."),
    "export_live": _("An export of this replay is still being made: cancel it first."),
    "not_whole": _("The message was cut when it was kept: it cannot be sent again."),
    "already_handled": _("Nothing to do: the message was sent again or discarded already."),
}


def error_name(code: str) -> Words:
    return ErrorCode(code).label if code in ErrorCode.values else _("an error of the worker's own")


def advice(code: str) -> Words:
    return ADVICE.get(code, _("The worker used a code of its own: who runs it knows what it means."))


def refusal(refused: Refused) -> str:
    return str(REFUSALS.get(refused.code) or told(refused.text))
