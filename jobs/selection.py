"""Conditions that let PostgreSQL use the partial indexes of the jobs' states."""

from collections.abc import Collection

from django.db.models import Q

from jobs.states import JOB_ENDED, JOB_WAITING, JobStatus

# Each group has an index of its own: see the models. One `IN` over several groups would use none of them.
GROUPS = (JOB_WAITING, (JobStatus.READY,), (JobStatus.PROCESSING,))


def in_states(statuses: Collection[str]) -> Q:
    """Jobs in one of these states."""
    condition = Q(pk__in=())
    for group in GROUPS:
        if wanted := [status for status in group if status in statuses]:
            condition |= Q(status__in=wanted) if len(group) > 1 else Q(status=wanted[0])
    if ended := [status for status in JOB_ENDED if status in statuses]:
        condition |= Q(status__in=ended, completed_at__isnull=False)
    return condition
