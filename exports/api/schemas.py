"""The API's objects for the OpenAPI document, with examples, and the pages of its lists."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_serializer, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from exports.eventlog import MAX_DURATION_MS
from exports.messages import RESULTS
from exports.models import DeadLetter
from exports.options import MAX_FPS_OF
from exports.render.options import RESOLUTIONS, RenderOptions
from exports.replays import MAX_TITLE
from exports.states import ErrorCode, JobType, Phase, Status
from jobs.api.framework.openapi_examples import in_response
from jobs.api.framework.query import WholeNumber, invalid_parameter
from jobs.api.framework.serializers import StrictSerializer, validated

# --- replays --------------------------------------------------------------------------------------

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


@extend_schema_serializer(component_name="Replay", examples=[in_response("a replay", REPLAY_EXAMPLE)])
class ReplayOut(serializers.Serializer[Any]):
    replayId = serializers.IntegerField()
    title = serializers.CharField()
    fileName = serializers.CharField()
    kind = serializers.ChoiceField(["eventlog", "mp4", "matroska", "avi"])
    sizeBytes = serializers.IntegerField()
    checksum = serializers.CharField(help_text="SHA-256 of the upload.")
    durationMs = serializers.IntegerField(
        allow_null=True, help_text="Null for a video that the server could not measure."
    )
    createdAt = serializers.DateTimeField()


USAGE_EXAMPLE = {
    "replayBytes": 954463,
    "resultBytes": 7587673,
    "usedBytes": 8542136,
    "quotaBytes": 10737418240,
}


@extend_schema_serializer(
    component_name="StorageUsage", examples=[in_response("below the quota", USAGE_EXAMPLE)]
)
class UsageOut(serializers.Serializer[Any]):
    replayBytes = serializers.IntegerField(help_text="Of your replays.")
    resultBytes = serializers.IntegerField(help_text="Of the results of your exports that have not expired.")
    usedBytes = serializers.IntegerField(help_text="The sum of both.")
    quotaBytes = serializers.IntegerField(allow_null=True, help_text="Null: any number.")


# --- exports --------------------------------------------------------------------------------------

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


class PictureOptions(StrictSerializer):
    resolution = serializers.ChoiceField(
        list(RESOLUTIONS),
        required=False,
        help_text="The pictures fit into 16:9 of this height. An event log is drawn at exactly this size; a "
        "video is never made larger.",
    )
    fromMs = serializers.IntegerField(
        required=False, min_value=0, max_value=MAX_DURATION_MS, help_text="The start of the part to export."
    )
    toMs = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_DURATION_MS, help_text="Its end; after `fromMs`."
    )

    def options(self) -> RenderOptions:
        values = validated(self)
        return RenderOptions(
            values.get("resolution"),
            values.get("fps"),
            values.get("fromMs"),
            values.get("toMs"),
            values.get("sound"),
        )


class VideoOptions(PictureOptions):
    fps = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_FPS_OF[JobType.MP4], help_text="Frames per second."
    )
    sound = serializers.BooleanField(
        required=False,
        help_text="Whether the file keeps the sound of a video; default: true. An event log has none.",
    )


class GifOptions(PictureOptions):
    fps = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_FPS_OF[JobType.GIF], help_text="Frames per second."
    )


StartedExport = inline_serializer("StartedExport", {"jobId": serializers.IntegerField()})


@extend_schema_serializer(component_name="Export", examples=[in_response("done", SUCCEEDED_EXAMPLE)])
class ExportOut(serializers.Serializer[Any]):
    jobId = serializers.IntegerField()
    jobType = serializers.ChoiceField(JobType.values)
    replayId = serializers.IntegerField()
    resolution = serializers.ChoiceField(
        list(RESOLUTIONS),
        allow_null=True,
        help_text="Null, here and below: nothing was set, and the default holds.",
    )
    fps = serializers.IntegerField(allow_null=True)
    fromMs = serializers.IntegerField(allow_null=True)
    toMs = serializers.IntegerField(allow_null=True)
    sound = serializers.BooleanField(allow_null=True)
    status = serializers.ChoiceField(Status.values)
    progress = serializers.IntegerField(min_value=0, max_value=100)
    phase = serializers.CharField(help_text="PREPARING, RENDERING, FINALIZING, or a foreign worker's own.")
    message = serializers.CharField(
        help_text="The last progress message of the worker; after a success what is wrong with the file, "
        "such as sound that could not be read."
    )
    etaSeconds = serializers.IntegerField(
        allow_null=True, help_text="The time left at the speed so far; null while it is unknown."
    )
    resultUri = serializers.CharField(allow_null=True, help_text="Where to download the file.")
    checksum = serializers.CharField(allow_null=True, help_text="SHA-256 of the file.")
    sizeBytes = serializers.IntegerField(allow_null=True)
    errorCode = serializers.CharField(
        allow_null=True, help_text=f"{', '.join(ErrorCode.values)}, or a foreign worker's own."
    )
    errorMessage = serializers.CharField(allow_null=True)
    createdAt = serializers.DateTimeField()
    startedAt = serializers.DateTimeField(allow_null=True)
    endedAt = serializers.DateTimeField(allow_null=True)
    expiredAt = serializers.DateTimeField(allow_null=True, help_text="When the file was deleted.")


# --- dead letters ---------------------------------------------------------------------------------

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


@extend_schema_serializer(
    component_name="DeadLetter", examples=[in_response("a foreign worker's mistake", DEAD_LETTER_EXAMPLE)]
)
class DeadLetterOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    sourceStream = serializers.CharField()
    sourceId = serializers.CharField(help_text="The id of the message in its stream.")
    fields = serializers.DictField(child=serializers.CharField())  # type: ignore[assignment]
    whole = serializers.BooleanField(help_text="Whether `fields` is the complete message.")
    reason = serializers.CharField()
    failedAt = serializers.DateTimeField()
    state = serializers.ChoiceField(DeadLetter.State.values)
    handledAt = serializers.DateTimeField(allow_null=True)
    handledBy = serializers.CharField(allow_null=True)


# --- pages: `{content, page, size, totalElements, totalPages}`, from page 0 -----------------------

MAX_ROW = 1_000_000
SIZE = WholeNumber("size", "The number of items on a page.", default=20, low=1, high=200)
PAGE = WholeNumber("page", "The page, from 0.", default=0, low=0, high=MAX_ROW)
PAGING = [PAGE.openapi, SIZE.openapi]


def page_of(request: Request, rows: QuerySet[Any], shape: Callable[[Any], dict[str, Any]]) -> Response:
    page, size = PAGE.of(request), SIZE.of(request)
    if page * size > MAX_ROW:
        raise invalid_parameter(PAGE.name, f"Only the first {MAX_ROW:,} rows have pages: narrow the filter.")
    total = rows.count()
    content = [shape(row) for row in rows[page * size : (page + 1) * size]]
    return Response(_page(content, page, size, total))


def page_example(content: dict[str, Any]) -> dict[str, Any]:
    return _page([content], 0, 20, 1)


def _page(content: list[dict[str, Any]], page: int, size: int, total: int) -> dict[str, Any]:
    return {
        "content": content,
        "page": page,
        "size": size,
        "totalElements": total,
        "totalPages": -(-total // size),
    }


def page_schema(name: str, content: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    return inline_serializer(
        name,
        {
            "content": content(many=True),
            "page": serializers.IntegerField(min_value=0),
            "size": serializers.IntegerField(min_value=1, max_value=200),
            "totalElements": serializers.IntegerField(),
            "totalPages": serializers.IntegerField(),
        },
    )
