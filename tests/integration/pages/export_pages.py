"""What the tests of the pages of exports share: exports that wait, are being made or have ended."""

import hashlib
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from exports import sample
from exports.models import ExportJob, StreamOutbox
from exports.states import JobType, Status
from tests.integration import export_tools as tools

LOG = "\n".join(sample.event_log(1, title="Final")).encode()


def export(minji, job_type: JobType = JobType.MP4, **changes: Any) -> ExportJob:
    job = tools.export_of(minji, job_type)
    if changes:
        ExportJob.objects.filter(pk=job.pk).update(**changes)
        job.refresh_from_db()
    return job


def finished(minji, job_type: JobType = JobType.MP4, content: bytes = b"film" * 9) -> ExportJob:
    job = tools.export_of(minji, job_type)
    path = settings.DURE_EXPORT_PATH.joinpath(*job.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    ExportJob.objects.filter(pk=job.pk).update(
        status=Status.SUCCEEDED,
        progress=100,
        started_at=timezone.now(),
        ended_at=timezone.now(),
        result_uri="/".join(job.output),
        result_checksum=hashlib.sha256(content).hexdigest(),
        result_size=len(content),
    )
    return ExportJob.objects.get(pk=job.pk)


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
