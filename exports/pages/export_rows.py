"""An export as the pages show it: the row, what it waits for, and what can be done."""

import os
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext

from exports import failures, serialize
from exports.files import PathRefused, Store, split
from exports.models import ExportJob
from exports.pages import labels
from exports.pages.wait_status import Standing, standings
from exports.states import LIVE, JobType, Status

JSON = dict[str, Any]


def own(user: User) -> QuerySet[ExportJob]:
    """The only way to an export: somebody else's is as if it were not there."""
    return ExportJob.objects.filter(owner=user).select_related("replay")


def shown(jobs: Sequence[ExportJob], now: datetime) -> list[JSON]:
    waits = standings(jobs, now)
    return [one(job, waits.get(job.pk), now) for job in jobs]


def one(job: ExportJob, standing: Standing | None, now: datetime) -> JSON:
    return {
        "job": job,
        "kind": labels.KINDS[job.job_type],
        "title": job.replay.title,
        "live": job.status in LIVE,
        "running": job.status == Status.RUNNING,
        # What was cancelled before it began has one moment for both.
        "began": job.started_at is not None and job.started_at != job.ended_at,
        "standing": standing,
        "phase": labels.PHASES.get(job.phase, job.phase),
        "left": serialize.eta_seconds(job, now),
        "expired": job.expired_at is not None,
        "url": serialize.export(job, now)["resultUri"],
        "is_picture": job.job_type == JobType.THUMBNAIL,
    }


def in_full(job: ExportJob, now: datetime) -> JSON:
    """With what its own page tells beside."""
    found = one(job, standings([job], now).get(job.pk), now)
    return found | {
        "failed": job.status == Status.FAILED,
        "why": failures.translated(job.error_message, gettext),
        "error_name": labels.error_name(job.error_code),
        "advice": labels.advice(job.error_code),
        "gone": serialize.has_file(job) and not is_there(job),
        "poster": poster(job),
    }


def is_there(job: ExportJob) -> bool:
    """Whether a download would find the file that was recorded."""
    store = Store(settings.DURE_EXPORT_PATH)
    try:
        with store.open(split(store.root, job.result_uri)) as file:
            return os.fstat(file.fileno()).st_size == job.result_size
    except (OSError, PathRefused):
        return False


def poster(job: ExportJob) -> str:
    """The address of a thumbnail of the same replay, for the film to show before it plays."""
    if job.job_type != JobType.MP4 or not serialize.has_file(job):
        return ""
    pictures = ExportJob.objects.filter(
        replay_id=job.replay_id, job_type=JobType.THUMBNAIL, status=Status.SUCCEEDED, expired_at=None
    )
    found = pictures.order_by("-id").values_list("pk", flat=True).first()
    return f"/api/jobs/{found}/result" if found else ""
