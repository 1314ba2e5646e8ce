"""How offices stand: what is live in them, and what ended within a day."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count, Q
from django.utils import timezone

from jobs.models import Job
from jobs.selection import in_states
from jobs.states import JOB_LIVE, JOB_WAITING, JobStatus

WINDOW = timedelta(days=1)


@dataclass
class Standing:
    waiting: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0


FIELD = {
    **dict.fromkeys((*JOB_WAITING, JobStatus.READY), "waiting"),
    JobStatus.PROCESSING: "running",
    JobStatus.DONE: "done",
    JobStatus.FAILED: "failed",
}


def standing(offices: Collection[UUID], now: datetime | None = None) -> dict[UUID, Standing]:
    found = {office: Standing() for office in offices}
    recent = Q(
        status__in=(JobStatus.DONE, JobStatus.FAILED), completed_at__gte=(now or timezone.now()) - WINDOW
    )
    for condition in (in_states(JOB_LIVE), recent):
        jobs = Job.objects.filter(condition, office_id__in=list(offices)).order_by()
        for office, status, number in jobs.values_list("office_id", "status").annotate(number=Count("*")):
            one, field = found[office], FIELD[JobStatus(status)]
            setattr(one, field, getattr(one, field) + number)
    return found
