"""Mails the link for a new password, and records in the activity log that a password was changed."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import EmailMessage
from django.utils import translation
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from jobs import activity, actors, publish
from jobs.states import Act

SEND_RESET = "dure.send_password_reset"
# A mail that comes later than this surprises.
RESET_WITHIN_SECONDS = 600


def request_reset(users: Sequence[int], language: str) -> None:
    """Have a worker send the mails; without users too, so that no time tells whether there is one."""
    publish.send_control(
        SEND_RESET, list(users), language, expires=RESET_WITHIN_SECONDS, queue=settings.DURE_NOTICES_QUEUE
    )


def send_reset(users: Sequence[int], language: str) -> None:
    """Mail a link to each user. It works once, and until PASSWORD_RESET_TIMEOUT is over."""
    with translation.override(language):
        for user in User.objects.filter(pk__in=users, is_active=True).exclude(email=""):
            EmailMessage(
                subject=_("[Dure] A new password"),
                body=_(
                    "A new password was requested for the account %(user)s. Choose it here:\n\n%(link)s\n\n"
                    "The link works once, for an hour. If it was not you, there is nothing to do."
                )
                % {"user": user.get_username(), "link": link_for(user)},
                to=[user.email],
                headers={"Auto-Submitted": "auto-generated"},
            ).send()


def link_for(user: User) -> str:
    """Of the configured address: a request may name any host."""
    key = urlsafe_base64_encode(force_bytes(user.pk))
    return f"{settings.BASE_URL}/password/new/{key}/{default_token_generator.make_token(user)}"


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
