"""Cancel or retry many runs: jobs by the engine's bulk verbs, Executions without a job one by one."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, QuerySet

from jobs import bulk, lifecycle
from jobs.access import operated_offices
from jobs.ids import time_of
from jobs.models import Execution, Job
from jobs.states import EXECUTION_LIVE, ExecutionStatus
from scheduler.access import own_executions
from scheduler.runs import search
from scheduler.runs.filters import RunFilter, RunState

VERBS = (bulk.CANCEL, bulk.RETRY)
MOST_EXECUTIONS = 1_000
# The states of the runs that the verb may fit, each group by an index. A job that timed out is pending.
FITTING: dict[str, tuple[set[RunState], ...]] = {
    bulk.CANCEL: ({RunState.PENDING, RunState.QUEUED, RunState.RUNNING},),
    bulk.RETRY: ({RunState.FAILED, RunState.CANCELLED}, {RunState.PENDING}),
}
# For all searches of one request; the page says since when they have searched.
SEARCH_SECONDS = 5.0


@dataclass(frozen=True)
class Selection:
    """Jobs and Executions that the user may act on."""

    jobs: QuerySet[Job]
    executions: QuerySet[Execution]
    # Older runs were not searched; None: all were.
    searched_since: datetime | None = None


def select_matching(user: User, values: RunFilter, verb: str) -> Selection:
    """All runs that match and that the verb may fit, and the newest of the others, which it skips."""
    until = time.monotonic() + SEARCH_SECONDS
    states = set(values.states or RunState)
    others = states.difference(*FITTING[verb])
    fitting = [
        search.find_ids(user, replace(values, states=states & group), bulk.MOST + 1, until)
        for group in FITTING[verb]
        if states & group
    ]
    skipped = [search.find_ids(user, replace(values, states=others), bulk.MOST, 0.0)] if others else []
    jobs = [*chain(*(matches.jobs for matches in fitting + skipped))]
    executions = [*chain(*(matches.executions for matches in fitting + skipped))]
    bounds = [time_of(matches.bound) for matches in fitting if matches.bound]
    return replace(select(user, jobs, executions), searched_since=max(bounds, default=None))


def select(user: User, jobs: Sequence[UUID], executions: Sequence[UUID]) -> Selection:
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
