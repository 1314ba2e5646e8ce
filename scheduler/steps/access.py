"""The permissions on a step queue: of its owner, or of the members of its office (see jobs/access.py)."""

from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from jobs.access import RANK, office_ids_of, require_access, role_of_staff
from jobs.states import MemberRole
from scheduler.steps.models import Step, StepQueue


def queues_of(user: User) -> QuerySet[StepQueue]:
    if role_of_staff(user):
        return StepQueue.objects.all()
    own = Q(office__isnull=True, owner=user) | Q(office__in=office_ids_of(user))
    return StepQueue.objects.filter(own)


def queue_for(user: User, queue_id: int, needed: str = MemberRole.VIEWER) -> StepQueue:
    """404 when the user cannot see the queue, 403 when the user's role does not allow this."""
    queue = get_object_or_404(StepQueue.objects.select_related("owner"), pk=queue_id)
    if queue.office_id is not None:
        require_access(user, queue.office_id, needed)
    elif queue.owner_id != user.pk:
        role = role_of_staff(user)
        if role is None:
            raise Http404
        if RANK[role] < RANK[needed]:
            raise PermissionDenied("Staff have read-only access to other users' queues.")
    return queue


def may_operate(user: User, queue_id: int) -> bool:
    try:
        queue_for(user, queue_id, MemberRole.OPERATOR)
    except (Http404, PermissionDenied):
        return False
    return True


def steps_of(user: User) -> QuerySet[Step]:
    """The jobs that are in no queue."""
    return Step.objects.filter(owner=user)


def step_for(user: User, job_id: UUID, needed: str = MemberRole.VIEWER) -> Step:
    """A job, in a queue or not. 404 when the user cannot see it."""
    step = get_object_or_404(Step, pk=job_id)
    if step.queue_id is not None:
        queue_for(user, step.queue_id, needed)
    elif step.owner_id != user.pk:
        raise Http404
    return step
