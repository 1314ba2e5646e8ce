"""The permissions of users on schedules, Executions and workflows.

A schedule belongs to its owner, a workflow to its office, by the rules of jobs/access.py. An Execution is
visible to the owner of its trigger. Staff see everything, and a superuser may do what an owner may. Objects
of other users do not exist (404).
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import F, Func, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast
from django.shortcuts import get_object_or_404

from jobs.access import office_ids_of, require_access, role_of_staff
from jobs.models import Execution, Job
from jobs.states import MemberRole, Trigger
from scheduler.models import Calendar, Schedule, Workflow, WorkflowRun
from scheduler.steps.access import may_operate, queues_of
from scheduler.steps.models import Step
from scheduler.steps.states import Direction
from scheduler.workflows.lifecycle import with_next_run

# Queries name up to this many jobs, steps and schedules one by one.
FEW_JOBS = 5_000
FEW_STEPS = 1_000
FEW_SCHEDULES = 30
# A page names up to this many schedules in each of its statements.
MANY_SCHEDULES = 1_000
# The source of a step's Execution is `queue:step:direction`.
QUEUE_OF_STEP = Func(F("source"), Value(":"), Value(1), function="split_part", output_field=TextField())

Owned = TypeVar("Owned", Schedule, Calendar)


@dataclass(frozen=True)
class Origins:
    """The ids of what causes the Executions that a user sees: as queries, or as values that were read."""

    offices: QuerySet[Any, UUID] | Collection[UUID]
    schedules: QuerySet[Any, str] | Collection[str]
    queues: QuerySet[Any, str] | Collection[str]


def origins_of(user: User) -> Origins:
    return Origins(
        office_ids_of(user),
        # Those that they deleted too: their Executions stay visible.
        Schedule.with_deleted.filter(owner=user).order_by().values_list(Cast("id", TextField()), flat=True),
        queues_of(user).order_by().values_list(Cast("queue_id", TextField()), flat=True),
    )


def read_origins(user: User) -> Origins:
    """The same as values: Django and PostgreSQL need less time for each statement that has them."""
    queries = origins_of(user)
    schedules = list(queries.schedules)
    few = len(schedules) <= MANY_SCHEDULES
    return Origins(list(queries.offices), schedules if few else queries.schedules, list(queries.queues))


def may_change(user: User, row: Schedule | Calendar) -> bool:
    return row.owner_id == user.pk or user.is_superuser


def schedules_of(user: User) -> QuerySet[Schedule]:
    return Schedule.objects.all() if user.is_staff else Schedule.objects.filter(owner=user)


def calendars_of(user: User) -> QuerySet[Calendar]:
    return Calendar.objects.all() if user.is_staff else Calendar.objects.filter(owner=user)


def schedule_for(user: User, schedule_id: UUID | str, *, acts: bool = False) -> Schedule:
    return _one_of(schedules_of(user), schedule_id, user, "schedules", acts=acts)


def calendar_for(user: User, calendar_id: UUID, *, acts: bool = False) -> Calendar:
    return _one_of(calendars_of(user), calendar_id, user, "calendars", acts=acts)


def _one_of(visible: QuerySet[Owned], row_id: UUID | str, user: User, name: str, *, acts: bool) -> Owned:
    """404 if the user may not see the row, 403 if they may see but not change it."""
    row = get_object_or_404(visible, pk=row_id)
    if acts and not may_change(user, row):
        raise PermissionDenied(f"Staff have read-only access to other users' {name}.")
    return row


def executions_of(user: User, origins: Origins | None = None) -> QuerySet[Execution]:
    """A page with several statements passes the origins that it has read."""
    return Execution.objects.all() if user.is_staff else _caused_by(user, origins or origins_of(user))


def executions_by_cause(user: User) -> list[QuerySet[Execution]]:
    """The same Executions as disjoint querysets, each of which uses an index.

    With one condition for all, PostgreSQL would read the table backwards until a page is full: all of it
    for a user with few runs among millions. The user's sources are therefore values, whose row counts the
    planner knows: it finds few rows by their index, and reaches the newest of many rows soon.
    """
    if user.is_staff:
        return [Execution.objects.all()]
    origins = read_origins(user)
    parts = executions_without_job(user, origins)
    if offices := list(origins.offices):
        parts.append(_executions_in_offices(offices))
    return parts


def executions_without_job(user: User, origins: Origins | None = None) -> list[QuerySet[Execution]]:
    """Those of them that no job owns."""
    if user.is_staff:
        return [Execution.objects.filter(job__isnull=True)]
    origins = origins or read_origins(user)
    parts = [_executions_by_source(Trigger.MANUAL, [str(user.pk)])]
    ids = list(origins.schedules)
    # The newest rows of a single schedule are at the end of its range in the index by source, at any age.
    groups = [[schedule] for schedule in ids] if len(ids) <= FEW_SCHEDULES else [ids]
    parts += [_executions_by_source(Trigger.SCHEDULE, sources) for sources in groups]
    if queues := list(origins.queues):
        parts.append(_executions_in_queues(queues))
    return parts


def _executions_by_source(trigger: Trigger, sources: list[str]) -> QuerySet[Execution]:
    # Written like the condition of the index by source.
    return Execution.objects.exclude(source="").filter(trigger=trigger, source__in=sources)


def _executions_in_offices(offices: list[UUID]) -> QuerySet[Execution]:
    jobs = Job.objects.filter(office__in=offices).order_by()
    few = jobs[: FEW_JOBS + 1].count() <= FEW_JOBS
    return Execution.objects.filter(Q(job__in=jobs) if few else Q(office_id__in=offices))


def _executions_in_queues(queues: list[str]) -> QuerySet[Execution]:
    steps = list(
        Step.objects.filter(queue__in=[int(queue) for queue in queues])
        .order_by()
        .values_list("queue_id", "job_id")[: FEW_STEPS + 1]
    )
    if len(steps) <= FEW_STEPS:
        return _executions_by_source(
            Trigger.STEP, [f"{queue}:{job}:{way}" for queue, job in steps for way in Direction.values]
        )
    step_executions = Execution.objects.alias(queue=QUEUE_OF_STEP).filter(queue__in=queues)
    return step_executions.filter(trigger=Trigger.STEP)


def own_executions(user: User) -> QuerySet[Execution]:
    """Executions of schedules and by hand that the user may act on."""
    if user.is_superuser:
        return Execution.objects.filter(trigger__in=(Trigger.SCHEDULE, Trigger.MANUAL))
    schedules = Schedule.objects.filter(owner=user).values_list(Cast("id", TextField()))
    return Execution.objects.filter(
        Q(trigger=Trigger.SCHEDULE, source__in=schedules) | Q(trigger=Trigger.MANUAL, source=str(user.pk))
    )


def may_cancel(user: User, execution: Execution) -> bool:
    """Whether the user may cancel an Execution without a job. A step's Execution belongs to its queue."""
    if execution.trigger == Trigger.STEP and not user.is_superuser:
        queue_id = execution.source.partition(":")[0]
        return queue_id.isdecimal() and may_operate(user, int(queue_id))
    return user.is_superuser or _caused_by(user, origins_of(user)).filter(pk=execution.pk).exists()


def _caused_by(user: User, origins: Origins) -> QuerySet[Execution]:
    return Execution.objects.alias(queue=QUEUE_OF_STEP).filter(
        Q(office_id__in=origins.offices)
        | Q(trigger=Trigger.SCHEDULE, source__in=origins.schedules)
        | Q(trigger=Trigger.MANUAL, source=str(user.pk))
        | Q(trigger=Trigger.STEP, queue__in=origins.queues)
    )


def workflows_of(user: User) -> QuerySet[Workflow]:
    """Each with the time of its pending run, as `next_run_at`."""
    return with_next_run(Workflow.objects.filter(office__in=office_ids_of(user)))


def runs_of(user: User, origins: Origins | None = None) -> QuerySet[WorkflowRun]:
    runs = WorkflowRun.objects.filter(workflow__deleted_at=None)
    if role_of_staff(user):
        return runs
    return runs.filter(workflow__office__in=origins.offices if origins else office_ids_of(user))


def workflow_for(user: User, workflow_id: UUID | str, needed: str = MemberRole.VIEWER) -> Workflow:
    """404 if the user is not in the workflow's office, 403 if their role does not suffice."""
    workflows = with_next_run(Workflow.objects.select_related("office"))
    workflow: Workflow = get_object_or_404(workflows, pk=workflow_id)
    require_access(user, workflow.office_id, needed)
    return workflow
