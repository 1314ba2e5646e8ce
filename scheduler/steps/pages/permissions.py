"""Lets the reader in to a queue, by the rules of scheduler/steps/access.py."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from jobs.pages.permissions import current_user
from jobs.states import MemberRole
from scheduler.steps.access import queue_for
from scheduler.steps.models import StepQueue


def queue_seen_by(request: HttpRequest, queue_id: int) -> StepQueue:
    return queue_for(current_user(request), queue_id)


def queue_acted_on_by(request: HttpRequest, queue_id: int) -> StepQueue:
    """404 for whom there is no such queue, 403 for who may only look."""
    return queue_for(current_user(request), queue_id, MemberRole.OPERATOR)


def may_act(request: HttpRequest, queue_id: int) -> bool:
    try:
        queue_acted_on_by(request, queue_id)
    except PermissionDenied:
        return False
    return True
