"""Filters of rows, in a form that lets PostgreSQL use the indexes by state."""

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet

from jobs.states import JOB_ENDED, JOB_WAITING, JobStatus

# Each group has an index of its own: see the models. One `IN` over several groups would use none of them.
GROUPS = (JOB_WAITING, (JobStatus.READY,), (JobStatus.PROCESSING,))

M = TypeVar("M", bound=Model)


def narrow(rows: QuerySet[M], values: Mapping[str, Any], lookups: Mapping[str, str]) -> QuerySet[M]:
    """Filter by each of these lookups that has a value."""
    return rows.filter(**{lookup: values[name] for name, lookup in lookups.items() if values.get(name)})


def are_few(statuses: Collection[str]) -> bool:
    """Whether jobs in these states are few among very many: all are live. Without a state it is every job."""
    return bool(statuses) and set(statuses).isdisjoint(JOB_ENDED)


def in_states(statuses: Collection[str]) -> Q:
    """Jobs in one of these states."""
    condition = Q(pk__in=())
    for group in GROUPS:
        if members := [status for status in group if status in statuses]:
            condition |= Q(status__in=members) if len(group) > 1 else Q(status=members[0])
    if ended := [status for status in JOB_ENDED if status in statuses]:
        condition |= Q(status__in=ended, completed_at__isnull=False)
    return condition
