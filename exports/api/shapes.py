"""What a replay, an export and a dead letter look like as JSON, for the OpenAPI document too."""

from typing import Any

from django.utils.timezone import localtime
from drf_spectacular.utils import extend_schema_serializer, inline_serializer
from rest_framework import serializers

from exports.api import examples
from exports.models import DeadLetter, Replay
from exports.states import ErrorCode, JobType, Status
from jobs.api.framework.openapi_examples import in_response


def replay(row: Replay) -> dict[str, Any]:
    return {
        "replayId": row.pk,
        "title": row.title,
        "fileName": row.file_name,
        "kind": row.kind,
        "sizeBytes": row.size_bytes,
        "checksum": row.sha256,
        "durationMs": row.duration_ms,
        "createdAt": localtime(row.created_at).isoformat(),
    }


def dead_letter(row: DeadLetter) -> dict[str, Any]:
    return {
        "id": row.pk,
        "sourceStream": row.source_stream,
        "sourceId": row.source_id,
        "fields": row.fields,
        "whole": row.whole,
        "reason": row.reason,
        "failedAt": localtime(row.failed_at).isoformat(),
        "state": row.state,
        "handledAt": localtime(row.handled_at).isoformat() if row.handled_at else None,
        "handledBy": row.handled_by.get_username() if row.handled_by else None,
    }


@extend_schema_serializer(component_name="Replay", examples=[in_response("a replay", examples.REPLAY)])
class ReplayDocument(serializers.Serializer[Any]):
    replayId = serializers.IntegerField()
    title = serializers.CharField()
    fileName = serializers.CharField()
    kind = serializers.ChoiceField(["eventlog", "mp4", "matroska", "avi"])
    sizeBytes = serializers.IntegerField()
    checksum = serializers.CharField(help_text="SHA-256 of the upload.")
    durationMs = serializers.IntegerField(
        allow_null=True, help_text="Null for a video: nobody has looked into it yet."
    )
    createdAt = serializers.DateTimeField()


@extend_schema_serializer(component_name="Export", examples=[in_response("done", examples.SUCCEEDED)])
class ExportDocument(serializers.Serializer[Any]):
    jobId = serializers.IntegerField()
    jobType = serializers.ChoiceField(JobType.values)
    replayId = serializers.IntegerField()
    status = serializers.ChoiceField(Status.values)
    progress = serializers.IntegerField(min_value=0, max_value=100)
    phase = serializers.CharField(help_text="PREPARING, RENDERING, FINALIZING, or a foreign worker's word.")
    message = serializers.CharField(help_text="What the worker says of it.")
    etaSeconds = serializers.IntegerField(
        allow_null=True, help_text="What is left, at the speed so far; null while nobody can tell."
    )
    resultUri = serializers.CharField(allow_null=True, help_text="Where the file is fetched.")
    checksum = serializers.CharField(allow_null=True, help_text="SHA-256 of the file.")
    sizeBytes = serializers.IntegerField(allow_null=True)
    errorCode = serializers.CharField(
        allow_null=True, help_text=f"{', '.join(ErrorCode.values)}, or a foreign worker's word."
    )
    errorMessage = serializers.CharField(allow_null=True)
    createdAt = serializers.DateTimeField()
    startedAt = serializers.DateTimeField(allow_null=True)
    endedAt = serializers.DateTimeField(allow_null=True)
    expiredAt = serializers.DateTimeField(allow_null=True, help_text="Since when its file is no longer kept.")


@extend_schema_serializer(
    component_name="DeadLetter",
    examples=[in_response("a foreign worker's mistake", examples.DEAD_LETTER)],
)
class DeadLetterDocument(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    sourceStream = serializers.CharField()
    sourceId = serializers.CharField(help_text="Its id in the stream.")
    fields = serializers.DictField(child=serializers.CharField())  # type: ignore[assignment]
    whole = serializers.BooleanField(help_text="Whether `fields` is all of the message.")
    reason = serializers.CharField()
    failedAt = serializers.DateTimeField()
    state = serializers.ChoiceField(DeadLetter.State.values)
    handledAt = serializers.DateTimeField(allow_null=True)
    handledBy = serializers.CharField(allow_null=True)


STARTED = inline_serializer("StartedExport", {"jobId": serializers.IntegerField()})


def page_document(name: str, content: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
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
