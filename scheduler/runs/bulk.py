"""Cancel or retry many runs: jobs by the engine's bulk verbs, Executions without a job one by one."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, QuerySet

from jobs import bulk, lifecycle
from jobs.access import operated_offices
from jobs.models import Execution, Job
from jobs.states import EXECUTION_LIVE, ExecutionStatus
from scheduler.access import own_executions
from scheduler.runs import search
from scheduler.runs.filters import RunFilter

VERBS = (bulk.CANCEL, bulk.RETRY)
MOST_EXECUTIONS = 1_000


@dataclass(frozen=True)
class Selection:
    """Jobs and Executions that the user may act on."""

    jobs: QuerySet[Job]
    executions: QuerySet[Execution]


def select_by_id(user: User, ids: Iterable[UUID]) -> Selection:
    selected_ids = list(ids)
    return _select(user, selected_ids, selected_ids)


def matching(user: User, values: RunFilter) -> Selection:
    return _select(user, *search.matching_ids(user, values, bulk.MOST + 1))


def _select(user: User, jobs: Sequence[UUID], executions: Sequence[UUID]) -> Selection:
    return Selection(
        Job.objects.filter(pk__in=jobs, office__in=operated_offices(user)),
        own_executions(user).filter(pk__in=executions, job__isnull=True),
    )


def preview(selection: Selection, verb: str) -> bulk.Preview:
    """What the verb would change. Of Executions without a job it cancels those that have not ended."""
    of_jobs = bulk.preview(selection.jobs, verb)
    rows = selection.executions.order_by().values_list("status").annotate(number=Count("*"))
    states = Counter(dict(rows))
    fitting = EXECUTION_LIVE if verb == bulk.CANCEL else ()
    skipped = Counter(of_jobs.skipped_by_state)
    skipped.update({status: number for status, number in states.items() if status not in fitting})
    live = sum(states[status] for status in fitting)
    return replace(
        of_jobs,
        changed=of_jobs.changed + min(live, MOST_EXECUTIONS),
        beyond=of_jobs.beyond + max(0, live - MOST_EXECUTIONS),
        running=of_jobs.running + (states[ExecutionStatus.RUNNING] if fitting else 0),
        skipped_by_state=dict(skipped),
    )


def apply(selection: Selection, action: bulk.Action) -> bulk.Result:
    result = bulk.apply(selection.jobs, action)
    if action.verb != bulk.CANCEL:
        return result
    live = selection.executions.filter(status__in=EXECUTION_LIVE).order_by("id")
    ids = list(live.values_list("id", flat=True)[:MOST_EXECUTIONS])
    cancelled = sum(lifecycle.cancel_execution(execution) is not None for execution in ids)
    return bulk.Result(result.changed + cancelled, result.refused + len(ids) - cancelled)
