"""Ended exports, as stored and as a successful worker reports them."""

import hashlib

from django.conf import settings
from django.utils import timezone

from exports.models import ExportJob
from exports.states import Status


def after(job: ExportJob) -> ExportJob:
    return ExportJob.objects.get(pk=job.pk)


def finished(job: ExportJob, content: bytes = bytes(range(256)) * 40) -> ExportJob:
    """A succeeded export with its file."""
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
