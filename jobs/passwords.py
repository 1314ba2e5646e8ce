"""Records in the activity log that a password was changed, wherever that happens."""

from typing import Any

from django.contrib.auth.models import AnonymousUser, User

from jobs import activity, actors
from jobs.states import Act


def record_change(*, instance: User, created: bool, **_signal: Any) -> None:
    """After a user was saved. Who is not signed in has followed a link that was sent by mail."""
    # Django sets `_password` until the end of save(), unless it has only hashed the same password anew.
    if created or getattr(instance, "_password", None) is None:
        return
    here = actors.current()
    if here is not None and isinstance(here.user, AnonymousUser):
        activity.record(Act.PASSWORD_RESET, owner=instance.pk, actor=instance.get_username())
    else:
        activity.record(Act.PASSWORD_CHANGED, owner=instance.pk)
