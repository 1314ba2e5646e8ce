"""An export as the API and the sockets show it: camelCase, and no path of the server."""

from datetime import datetime
from typing import Any

from django.utils.timezone import localtime

from exports.models import ExportJob
from exports.states import Status


def as_json(job: ExportJob, now: datetime) -> dict[str, Any]:
    return {
        "jobId": job.pk,
        "jobType": job.job_type,
        "replayId": job.replay_id,
        "status": job.status,
        "progress": job.progress,
        "phase": job.phase,
        "message": job.message,
        "etaSeconds": eta_seconds(job, now),
        # Where its owner fetches it; the path below the root stays ours.
        "resultUri": f"/api/jobs/{job.pk}/result" if has_file(job) else None,
        "checksum": job.result_checksum or None,
        "sizeBytes": job.result_size,
        "errorCode": job.error_code or None,
        "errorMessage": job.error_message or None,
        "createdAt": _time(job.created_at),
        "startedAt": _time(job.started_at),
        "endedAt": _time(job.ended_at),
        "expiredAt": _time(job.expired_at),
    }


def has_file(job: ExportJob) -> bool:
    """Whether there is anything to fetch: it was made, and it is still kept."""
    return job.status == Status.SUCCEEDED and job.expired_at is None


def eta_seconds(job: ExportJob, now: datetime) -> int | None:
    """What is left, at the speed so far. Nothing is said before there is a speed."""
    if job.status != Status.RUNNING or job.started_at is None or job.progress < 3:
        return None
    spent = (now - job.started_at).total_seconds()
    return max(round(spent * (100 - job.progress) / job.progress), 0)


def _time(moment: datetime | None) -> str | None:
    return localtime(moment).isoformat() if moment else None
