"""What this app's problem codes mean: each has a page, at the address that its `type` names."""

from jobs.api.framework.error_codes import describe

BAD_REPLAY = describe(
    "bad_replay", "The upload is neither an event log nor a video that can be read.", status=400
)
EXPORT_LIVE = describe("export_live", "An export of this replay is still being made: cancel it first.")
NOT_SUCCEEDED = describe("not_succeeded", "The export has no result: it has not ended, or not well.")
OUTSIDE = describe(
    "outside_export_root", "The recorded result is not a plain file below the export root.", status=400
)
FILE_GONE = describe(
    "file_gone", "The file of the result is no longer there, or no longer what was recorded.", status=404
)
RANGE = describe(
    "range_not_satisfiable", "The range that was asked for lies outside of the file.", status=416
)
NO_SPACE = describe("no_space", "The server has no space left for uploads.", status=507)
NOT_WHOLE = describe("not_whole", "The message was cut when it was kept, so it cannot be sent again.")
HANDLED = describe("already_handled", "The dead letter was sent again or discarded already.")
