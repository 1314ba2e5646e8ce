"""The texts of this app's errors, by code. jobs/errors.py explains how code raises them."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from exports import failures
from exports.failures import BadReplay
from jobs.errors import ErrorText, ProblemCode

TEXTS: dict[str, str | Promise] = {
    "export_ended": _("The export has already ended."),
    "export_live": _("An export of this replay has not ended: cancel it first."),
    "quota_exceeded": _(
        "Your replays and exports use %(used)s of %(quota)s bytes; this does not fit. Delete some replays."
    ),
    "no_file_to_share": _("This export has no file."),
    "too_many_links": _("There are %(limit)s links already. Revoke one first."),
    "part_empty": _("The end of the part must be after its start."),
    "part_outside": _("The replay is %(length)s s long."),
    "gif_too_long": _("A GIF shows at most %(limit)s s. Choose a shorter part of the replay."),
    "fps_of_picture": _("A thumbnail is one picture: it has no frames per second."),
    "sound_of_pictures": _("A GIF or a thumbnail has no sound."),
    "not_whole": _("The message was cut when it was stored; it cannot be sent again."),
    "already_handled": _("The message was already sent again or discarded."),
    # The texts of failures.py; they are marked for translation there.
    **{f"replay.{code}": _(text) for code, text in {**failures.PLACES, **failures.TEXTS}.items()},
}


def of_bad_replay(bad: BadReplay) -> ErrorText:
    text = ErrorText(f"replay.{bad.code}", **bad.params)
    for place in reversed(failures.PLACES):
        if place in bad.params:
            text = ErrorText(f"replay.{place}", problem=text, **{place: bad.params[place]})
    return text


PROBLEM_CODES = {
    "bad_replay": ProblemCode(
        400, "Unreadable replay", "The upload is neither an event log nor a video that can be read."
    ),
    "quota_exceeded": ProblemCode(
        413, "Quota exceeded", "It would take the owner's replays and results above their quota."
    ),
    "export_live": ProblemCode(
        409, "Export in progress", "An export of this replay is still running: cancel it first."
    ),
    "not_succeeded": ProblemCode(
        409, "No result", "The export has no result: it is not finished, or it failed."
    ),
    "outside_export_root": ProblemCode(
        400,
        "Result outside the export root",
        "The recorded result is not a plain file below the export root.",
    ),
    "file_gone": ProblemCode(
        404, "Result file missing", "The result file is missing, or differs from what was recorded."
    ),
    "no_file_to_share": ProblemCode(
        409, "No file to share", "The export has no file: it has not succeeded, or the file expired."
    ),
    "too_many_links": ProblemCode(
        409, "Too many download links", "The export has as many download links as it may: revoke one first."
    ),
    "link_not_valid": ProblemCode(
        404, "Invalid download link", "The download link is incomplete or altered, or it was revoked."
    ),
    "link_expired": ProblemCode(
        410, "Download link expired", "The download link has expired: ask its owner for a new one."
    ),
    "range_not_satisfiable": ProblemCode(
        416, "Range not satisfiable", "The requested range lies outside the file."
    ),
    "no_space": ProblemCode(507, "No space left", "The server has no space left for uploads."),
    "not_whole": ProblemCode(
        409, "Truncated message", "The message was truncated when it was stored, so it cannot be sent again."
    ),
    "already_handled": ProblemCode(
        409, "Dead letter already handled", "The dead letter was already sent again or discarded."
    ),
}
