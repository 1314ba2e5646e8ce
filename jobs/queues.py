"""Pauses the queue of a role, for every office and every trigger, and resumes it.

Nothing of a paused role starts: its jobs stay ready and hold no slot, its other runs are due, and messages
that were sent before find nothing to claim. What runs goes on. Schedules decide about their times as ever,
and queue timeouts go on.
"""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from jobs import activity, lifecycle, publish
from jobs.field_types import LONGEST_REASON
from jobs.models import PausedRole, ServedRole
from jobs.queries import known_roles
from jobs.sql import call, statements
from jobs.states import Act


@dataclass(frozen=True)
class Queue:
    """The queue of a role. `pause` says since when, by whom and why nothing starts."""

    role: str
    is_served: bool
    pause: PausedRole | None


def queues() -> list[Queue]:
    """Every known role: those of all installations first, then those of Tasks, workers and pauses."""
    pauses, served = PausedRole.objects.in_bulk(), served_roles()
    roles = dict.fromkeys([*known_roles(), *sorted(served), *sorted(pauses)])
    return [Queue(role, role in served, pauses.get(role)) for role in roles]


def served_roles() -> set[str]:
    """Roles with at least one live worker that is not draining."""
    return set(ServedRole.objects.filter(until__gt=Now()).values_list("role", flat=True))


def paused_roles() -> set[str]:
    return set(PausedRole.objects.values_list("role", flat=True))


def find_queue(role: str) -> Queue | None:
    return next((queue for queue in queues() if queue.role == role), None)


def pause_queue(role: str, actor: User | str, reason: str = "") -> bool:
    """Let nothing more of this role start. False if it is paused already; then the first pause stays."""
    reason = call.storable_text(" ".join(reason.split()), LONGEST_REASON)
    values = {"role": role, "by": _name(actor), "reason": reason}
    with transaction.atomic():
        if not call.change(statements.PAUSE_ROLE, values):
            return False
        _record(Act.QUEUE_PAUSED, actor, role=role, reason=reason)
    # Their slots are free for jobs of other roles. The sweep repeats it.
    lifecycle.return_unclaimed()
    return True


def resume_queue(role: str, actor: User | str) -> bool:
    """Let the runs of this role start again, now. False if it was not paused."""
    with transaction.atomic():
        if not call.change(statements.RESUME_ROLE, [role]):
            return False
        _record(Act.QUEUE_RESUMED, actor, role=role)
        transaction.on_commit(lambda: publish.send_control(lifecycle.DISPATCH_ROLES, [role]))
    return True


def _name(actor: User | str) -> str:
    return actor if isinstance(actor, str) else actor.get_username()


def _record(act: Act, actor: User | str, **details: Any) -> None:
    """In the log of the user who did it: no office owns a queue."""
    owner = None if isinstance(actor, str) else actor.pk
    activity.record(act, owner=owner, actor=_name(actor), **details)
