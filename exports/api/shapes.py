"""What a replay, an export and a dead letter look like as JSON, for the OpenAPI document too."""

from typing import Any

from django.utils.timezone import localtime
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from exports.models import DeadLetter, Replay
from exports.states import JobType, Status


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


class ReplayDocument(serializers.Serializer[Any]):
    replayId = serializers.IntegerField()  # noqa: N815 (the names on the wire)
    title = serializers.CharField()
    fileName = serializers.CharField()  # noqa: N815
    kind = serializers.ChoiceField(["eventlog", "mp4", "matroska", "avi"])
    sizeBytes = serializers.IntegerField()  # noqa: N815
    checksum = serializers.CharField(help_text="SHA-256 of the upload.")
    durationMs = serializers.IntegerField(allow_null=True)  # noqa: N815
    createdAt = serializers.DateTimeField()  # noqa: N815


class ExportDocument(serializers.Serializer[Any]):
    jobId = serializers.IntegerField()  # noqa: N815
    jobType = serializers.ChoiceField(JobType.values)  # noqa: N815
    replayId = serializers.IntegerField()  # noqa: N815
    status = serializers.ChoiceField(Status.values)
    progress = serializers.IntegerField(min_value=0, max_value=100)
    phase = serializers.CharField(help_text="PREPARING, RENDERING, FINALIZING, or a foreign worker's word.")
    message = serializers.CharField()
    etaSeconds = serializers.IntegerField(allow_null=True)  # noqa: N815
    resultUri = serializers.CharField(allow_null=True, help_text="Where the file is fetched.")  # noqa: N815
    checksum = serializers.CharField(allow_null=True, help_text="SHA-256 of the file.")
    sizeBytes = serializers.IntegerField(allow_null=True)  # noqa: N815
    errorCode = serializers.CharField(allow_null=True)  # noqa: N815
    errorMessage = serializers.CharField(allow_null=True)  # noqa: N815
    createdAt = serializers.DateTimeField()  # noqa: N815
    startedAt = serializers.DateTimeField(allow_null=True)  # noqa: N815
    endedAt = serializers.DateTimeField(allow_null=True)  # noqa: N815


class DeadLetterDocument(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    sourceStream = serializers.CharField()  # noqa: N815
    sourceId = serializers.CharField()  # noqa: N815
    fields = serializers.DictField(child=serializers.CharField())  # type: ignore[assignment]
    whole = serializers.BooleanField(help_text="Whether `fields` is all of the message.")
    reason = serializers.CharField()
    failedAt = serializers.DateTimeField()  # noqa: N815
    state = serializers.ChoiceField(DeadLetter.State.values)
    handledAt = serializers.DateTimeField(allow_null=True)  # noqa: N815
    handledBy = serializers.CharField(allow_null=True)  # noqa: N815


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
