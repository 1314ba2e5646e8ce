"""Whose a step queue is: its owner's, or its office's where it has one, by the rules of jobs/access.py."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404

from jobs.access import RANK, enter, offices_of, role_of_staff
from jobs.states import MemberRole
from scheduler.steps.models import StepQueue


def queues_of(user: User) -> QuerySet[StepQueue]:
    if role_of_staff(user):
        return StepQueue.objects.all()
    mine = Q(office__isnull=True, owner=user) | Q(office__in=offices_of(user).values("id"))
    return StepQueue.objects.filter(mine)


def queue_for(user: User, queue_id: int, needed: str = MemberRole.VIEWER) -> StepQueue:
    """404 for whom there is no such queue, 403 for who may see it but not do this."""
    queue = StepQueue.objects.select_related("owner").filter(pk=queue_id).first()
    if queue is None:
        raise Http404
    if queue.office_id is not None:
        enter(user, queue.office_id, needed)
    elif queue.owner_id != user.pk:
        role = role_of_staff(user)
        if role is None:
            raise Http404
        if RANK[role] < RANK[needed]:
            raise PermissionDenied("Staff may look at somebody's queue, and nothing else.")
    return queue
