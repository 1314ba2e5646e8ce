"""Exports, replays and dead letters as JSON: camelCase, and no path of the server."""

from datetime import datetime
from typing import Any

from django.utils.timezone import localtime

from exports.models import DeadLetter, ExportJob, ExportLink, Replay
from exports.quota import Usage
from exports.states import Status


def export(job: ExportJob, now: datetime) -> dict[str, Any]:
    return {
        "jobId": job.pk,
        "jobType": job.job_type,
        "replayId": job.replay_id,
        "resolution": job.resolution,
        "fps": job.fps,
        "fromMs": job.from_ms,
        "toMs": job.to_ms,
        "sound": job.sound,
        "status": job.status,
        "progress": job.progress,
        "phase": job.phase,
        "message": job.message,
        "etaSeconds": eta_seconds(job, now),
        "resultUri": result_url(job),
        "checksum": job.result_checksum or None,
        "sizeBytes": job.result_size,
        "errorCode": job.error_code or None,
        "errorMessage": job.error_message or None,
        "createdAt": _time(job.created_at),
        "startedAt": _time(job.started_at),
        "endedAt": _time(job.ended_at),
        "expiredAt": _time(job.expired_at),
    }


def replay(row: Replay) -> dict[str, Any]:
    return {
        "replayId": row.pk,
        "title": row.title,
        "fileName": row.file_name,
        "kind": row.kind,
        "sizeBytes": row.size_bytes,
        "checksum": row.sha256,
        "durationMs": row.duration_ms,
        "createdAt": _time(row.created_at),
    }


def link(row: ExportLink, url: str) -> dict[str, Any]:
    return {
        "linkId": row.pk,
        "url": url,
        "createdAt": _time(row.created_at),
        "expiresAt": _time(row.expires_at),
    }


def usage(value: Usage) -> dict[str, Any]:
    return {
        "replayBytes": value.replay_bytes,
        "resultBytes": value.result_bytes,
        "usedBytes": value.used_bytes,
        "quotaBytes": value.quota_bytes,
    }


def dead_letter(row: DeadLetter) -> dict[str, Any]:
    return {
        "id": row.pk,
        "sourceStream": row.source_stream,
        "sourceId": row.source_id,
        "fields": row.fields,
        "whole": row.whole,
        "reason": row.reason,
        "failedAt": _time(row.failed_at),
        "state": row.state,
        "handledAt": _time(row.handled_at),
        "handledBy": row.handled_by.get_username() if row.handled_by else None,
    }


def has_file(job: ExportJob) -> bool:
    """Whether there is a result that has not expired."""
    return job.status == Status.SUCCEEDED and job.expired_at is None


def result_url(job: ExportJob) -> str | None:
    """The URL at which the owner downloads the file; its path on the server is not published."""
    return f"/api/jobs/{job.pk}/result" if has_file(job) else None


def eta_seconds(job: ExportJob, now: datetime) -> int | None:
    """The time left at the speed so far. None before there is enough progress to tell."""
    if job.status != Status.RUNNING or job.started_at is None or job.progress < 3:
        return None
    spent = (now - job.started_at).total_seconds()
    return max(round(spent * (100 - job.progress) / job.progress), 0)


def _time(moment: datetime | None) -> str | None:
    return localtime(moment).isoformat() if moment else None
