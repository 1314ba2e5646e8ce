"""Whose a schedule, an Execution or a workflow is: asked by views, pages and sockets, answered here only.

A schedule is its owner's. An Execution is seen by who owns what caused it. A workflow is its office's,
by the rules of jobs/tenancy.py. Staff see everything and a superuser may do what an owner may; what is
somebody else's does not exist (404).
"""

from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import F, Func, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast
from django.http import Http404

from jobs.models import Execution
from jobs.states import MemberRole, Trigger
from jobs.tenancy import enter, offices_of
from scheduler.models import Schedule, ScheduledJob, Workflow
from scheduler.step_queues.access import queues_of


def schedules_of(user: User) -> QuerySet[Schedule]:
    return Schedule.objects.all() if user.is_staff else Schedule.objects.filter(owner=user)


def schedule_for(user: User, schedule_id: UUID | str, *, acts: bool = False) -> Schedule:
    """404 for whom there is no such schedule, 403 for who may see it but not do this."""
    found = schedules_of(user).filter(pk=schedule_id).first()
    if found is None:
        raise Http404
    if acts and found.owner_id != user.pk and not user.is_superuser:
        raise PermissionDenied("Staff may look at somebody's schedule, and nothing else.")
    return found


def executions_of(user: User) -> QuerySet[Execution]:
    return Execution.objects.all() if user.is_staff else _caused_by(user)


def may_cancel(user: User, execution: Execution) -> bool:
    """Of one that no job owns: a job's is its office's to cancel."""
    return user.is_superuser or _caused_by(user).filter(pk=execution.pk).exists()


def _caused_by(user: User) -> QuerySet[Execution]:
    schedules = Schedule.objects.filter(owner=user).values_list(Cast("id", TextField()))
    # A step's Execution names its queue first: `queue:step:direction`.
    queue = Func(F("source"), Value(":"), Value(1), function="split_part", output_field=TextField())
    queues = queues_of(user).values_list(Cast("queue_id", TextField()))
    return Execution.objects.alias(queue=queue).filter(
        Q(office_id__in=offices_of(user).values("id"))
        | Q(trigger=Trigger.SCHEDULE, source__in=schedules)
        | Q(trigger=Trigger.MANUAL, source=str(user.pk))
        | Q(trigger=Trigger.STEP, queue__in=queues)
    )


def workflows_of(user: User) -> QuerySet[Workflow]:
    return Workflow.objects.filter(office__in=offices_of(user).values("id"))


def runs_of(user: User) -> QuerySet[ScheduledJob]:
    return ScheduledJob.objects.filter(workflow__office__in=offices_of(user).values("id"))


def workflow_for(user: User, workflow_id: UUID | str, needed: str = MemberRole.VIEWER) -> Workflow:
    """404 for who is nobody in its office, 403 for who may see but not do this."""
    workflow = Workflow.objects.filter(pk=workflow_id).first()
    if workflow is None:
        raise Http404
    enter(user, workflow.office_id, needed)
    return workflow
