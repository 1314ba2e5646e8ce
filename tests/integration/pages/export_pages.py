"""Exports in each status, for the tests of the pages."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from exports import sample_replay
from exports.models import ExportJob, StreamOutbox
from exports.states import JobType, Status
from tests.integration import export_tools as tools
from tests.integration.exports import outcomes

LOG = "\n".join(sample_replay.event_log(1, title="Final")).encode()


def export(minji, job_type: JobType = JobType.MP4, **changes: Any) -> ExportJob:
    job = tools.export_of(minji, job_type)
    if changes:
        ExportJob.objects.filter(pk=job.pk).update(**changes)
        job.refresh_from_db()
    return job


def finished(minji, job_type: JobType = JobType.MP4, content: bytes = b"film" * 9) -> ExportJob:
    return outcomes.finished(tools.export_of(minji, job_type), content)


def running(minji, heard_seconds_ago: float = 1, **changes: Any) -> ExportJob:
    now = timezone.now()
    StreamOutbox.objects.all().delete()
    job = export(
        minji,
        status=Status.RUNNING,
        progress=40,
        phase="RENDERING",
        started_at=now - timedelta(seconds=20),
        heard_at=now - timedelta(seconds=heard_seconds_ago),
        **changes,
    )
    StreamOutbox.objects.all().delete()
    return job
