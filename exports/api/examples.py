"""Examples of requests about exports and replays, and of the answers, for OpenAPI."""

from typing import Any

from exports import schemas
from exports.messages import RESULTS
from exports.models import DeadLetter
from exports.replays import MAX_TITLE
from exports.states import JobType, Phase, Status
from jobs.api.framework.openapi_examples import in_response
from jobs.api.framework.openapi_models import add_examples

AT, LATER = "2026-12-01T09:00:00+09:00", "2026-12-01T09:01:15+09:00"
SHA256 = "f20e64f593d0de66f8baea58a36d077df598cf0c615a20cca29ad6a4f6398611"

EVENT_LOG_EXAMPLE = """\
{"format": "dure-replay/1", "title": "결승전", "size": [100, 50], "tickRate": 30, "players": [{"id": "p1"}]}
{"tick": 0, "positions": {"p1": [10, 25]}}
{"tick": 30, "positions": {"p1": [90, 25]}}
"""
UPLOAD_EXAMPLE = {"title": "두레 컵 결승전", "file": EVENT_LOG_EXAMPLE}
UPLOAD = {
    "multipart/form-data": {
        "type": "object",
        "required": ["file"],
        "properties": {
            "file": {
                "type": "string",
                "format": "binary",
                "description": "An event log, or an MP4, MOV, WebM, Matroska or AVI video.",
            },
            "title": {
                "type": "string",
                "maxLength": MAX_TITLE,
                "description": "Default: the title in the log, or the name of the file.",
            },
        },
        "additionalProperties": False,
    }
}
REPLAY_EXAMPLE = {
    "replayId": 1,
    "title": "두레 컵 결승전",
    "fileName": "match.jsonl",
    "kind": "eventlog",
    "sizeBytes": 954463,
    "checksum": "629af909a96dd9f75b8509bcefd862eb1634c427b6b43ff1f4165a2895a1a793",
    "durationMs": 119966,
    "createdAt": AT,
}
USAGE_EXAMPLE = {
    "replayBytes": 954463,
    "resultBytes": 7587673,
    "usedBytes": 8542136,
    "quotaBytes": 10737418240,
}
RUNNING_EXAMPLE: dict[str, Any] = {
    "jobId": 1,
    "jobType": JobType.MP4.value,
    "replayId": 1,
    "resolution": "1080p",
    "fps": None,
    "fromMs": None,
    "toMs": None,
    "sound": None,
    "status": Status.RUNNING.value,
    "progress": 40,
    "phase": Phase.RENDERING.value,
    "message": "frame 1440 of 3600",
    "etaSeconds": 45,
    "resultUri": None,
    "checksum": None,
    "sizeBytes": None,
    "errorCode": None,
    "errorMessage": None,
    "createdAt": AT,
    "startedAt": AT,
    "endedAt": None,
    "expiredAt": None,
}
SUCCEEDED_EXAMPLE = {
    **RUNNING_EXAMPLE,
    "status": Status.SUCCEEDED.value,
    "progress": 100,
    "phase": Phase.FINALIZING.value,
    "message": "",
    "etaSeconds": None,
    "resultUri": "/api/jobs/1/result",
    "checksum": SHA256,
    "sizeBytes": 7587673,
    "endedAt": LATER,
}
CANCELLED_EXAMPLE = {
    **RUNNING_EXAMPLE,
    "status": Status.CANCELLED.value,
    "etaSeconds": None,
    "endedAt": LATER,
}
PICTURE_PART = {"resolution": "1080p", "toMs": 20_000}
VIDEO_PART = {"resolution": "720p", "fps": 60, "fromMs": 10_000, "toMs": 20_000}
GIF_PART = {**VIDEO_PART, "resolution": "360p", "fps": 10}
LINK_EXAMPLE = {
    "linkId": 1,
    "url": "https://dure.example/api/jobs/1/shared/1.l-2vLKx0CRV9HqzYJ0pYDBdC9o0hmuLZ7U3E3zkGQXk",
    "createdAt": AT,
    "expiresAt": LATER,
}
DEAD_LETTER_EXAMPLE = {
    "id": 3,
    "sourceStream": RESULTS,
    "sourceId": "1796083200000-0",
    "fields": {"jobId": "1", "status": "DONE", "resultUri": "1/1.mp4", "checksum": SHA256},
    "whole": True,
    "reason": "status must be SUCCEEDED, FAILED or CANCELLED",
    "failedAt": AT,
    "state": DeadLetter.State.OPEN.value,
    "handledAt": None,
    "handledBy": None,
}

add_examples(
    {
        schemas.ReplayOut: in_response("a replay", REPLAY_EXAMPLE),
        schemas.StorageUsageOut: in_response("below the quota", USAGE_EXAMPLE),
        schemas.ExportOut: in_response("done", SUCCEEDED_EXAMPLE),
        schemas.ExportLinkOut: in_response("a link", LINK_EXAMPLE),
        schemas.DeadLetterOut: in_response("a foreign worker's mistake", DEAD_LETTER_EXAMPLE),
    }
)


def page_example(content: dict[str, Any]) -> dict[str, Any]:
    return {"content": [content], "page": 0, "size": 20, "totalElements": 1, "totalPages": 1}
