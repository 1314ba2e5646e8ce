"""Deletes an office with everything in it."""

from uuid import UUID

from django.db import transaction

from jobs.errors import Conflict
from jobs.models import Job, Office
from jobs.sql import call
from jobs.states import JobStatus

# Django's own cascade would read every row into memory. What is left after these is small.
DELETIONS = (
    "DELETE FROM run_logs l USING job_executions e, job_queue j "
    "WHERE l.execution_id = e.id AND e.job_id = j.id AND j.office_id = %s",
    "DELETE FROM job_attempts a USING job_executions e, job_queue j "
    "WHERE a.execution_id = e.id AND e.job_id = j.id AND j.office_id = %s",
    "DELETE FROM job_executions e USING job_queue j WHERE e.job_id = j.id AND j.office_id = %s",
    "DELETE FROM job_dependencies d USING job_queue j WHERE d.job_id = j.id AND j.office_id = %s",
    "DELETE FROM job_events WHERE office_id = %s",
    "DELETE FROM job_queue WHERE office_id = %s",
)


def delete_office(office_id: UUID) -> None:
    """Delete an office. Raises Conflict while a job is processing, since nothing could stop its run then."""
    with transaction.atomic():
        office = Office.objects.select_for_update().get(pk=office_id)
        processing = Job.objects.filter(office=office, status=JobStatus.PROCESSING).count()
        if processing:
            raise Conflict("jobs_processing", count=processing)
        for statement in DELETIONS:
            call.change(statement, [office_id])
        office.delete()
