"""Whose a schedule, an Execution or a workflow is: asked by views, pages and sockets, answered here only.

A schedule is its owner's. An Execution is seen by who owns what caused it. A workflow is its office's,
by the rules of jobs/tenancy.py. Staff see everything; what is somebody else's does not exist (404).
"""

from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import Http404

from jobs.models import Execution
from jobs.states import MemberRole, Trigger
from jobs.tenancy import enter, offices_of
from scheduler.models import Schedule, ScheduledJob, Workflow


def schedules_of(user: User) -> QuerySet[Schedule]:
    return Schedule.objects.all() if user.is_staff else Schedule.objects.filter(owner=user)


def executions_of(user: User) -> QuerySet[Execution]:
    if user.is_staff:
        return Execution.objects.all()
    mine = schedules_of(user).values_list(Cast("id", TextField()))
    return Execution.objects.filter(
        Q(office_id__in=offices_of(user).values("id"))
        | Q(trigger=Trigger.SCHEDULE, source__in=mine)
        | Q(trigger=Trigger.MANUAL, source=str(user.pk))
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
