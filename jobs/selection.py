"""Which rows fit what was asked for, by conditions that let PostgreSQL use the indexes of the states."""

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet

from jobs.states import JOB_ENDED, JOB_WAITING, JobStatus

# Each group has an index of its own: see the models. One `IN` over several groups would use none of them.
GROUPS = (JOB_WAITING, (JobStatus.READY,), (JobStatus.PROCESSING,))

M = TypeVar("M", bound=Model)


def narrowed(rows: QuerySet[M], asked: Mapping[str, Any], lookups: Mapping[str, str]) -> QuerySet[M]:
    """Those that fit each of these wishes that was given."""
    return rows.filter(**{lookup: asked[name] for name, lookup in lookups.items() if asked.get(name)})


def in_states(statuses: Collection[str]) -> Q:
    """Jobs in one of these states."""
    condition = Q(pk__in=())
    for group in GROUPS:
        if wanted := [status for status in group if status in statuses]:
            condition |= Q(status__in=wanted) if len(group) > 1 else Q(status=wanted[0])
    if ended := [status for status in JOB_ENDED if status in statuses]:
        condition |= Q(status__in=ended, completed_at__isnull=False)
    return condition
