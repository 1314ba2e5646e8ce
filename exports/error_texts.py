"""What the errors of this app say, by code. jobs/errors.py explains how they are raised."""

from django.utils.functional import Promise

from jobs.errors import ProblemCode

TEXTS: dict[str, str | Promise] = {}

PROBLEM_CODES = {
    "bad_replay": ProblemCode(400, "The upload is neither an event log nor a video that can be read."),
    "export_live": ProblemCode(409, "An export of this replay is still running: cancel it first."),
    "not_succeeded": ProblemCode(409, "The export has no result: it is not finished, or it failed."),
    "outside_export_root": ProblemCode(400, "The recorded result is not a plain file below the export root."),
    "file_gone": ProblemCode(404, "The result file is missing, or differs from what was recorded."),
    "range_not_satisfiable": ProblemCode(416, "The requested range lies outside the file."),
    "no_space": ProblemCode(507, "The server has no space left for uploads."),
    "not_whole": ProblemCode(
        409, "The message was truncated when it was stored, so it cannot be sent again."
    ),
    "already_handled": ProblemCode(409, "The dead letter was already sent again or discarded."),
}
