"""A user's API tokens: issuing and revoking them. jobs/models/access.py keeps their digests."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from jobs import activity
from jobs.models import ApiToken
from jobs.states import Act

MOST_DAYS = 36_500
LONGEST_NAME = 100


def issue(user: User, name: str, days: int | None = None) -> str:
    """A new token, which expires after so many days. Its text exists nowhere else."""
    expires_at = timezone.now() + timedelta(days=days) if days is not None else None
    return issue_until(user, name, expires_at)[1]


def issue_until(user: User, name: str, expires_at: datetime | None) -> tuple[ApiToken, str]:
    with transaction.atomic():
        token, plain = ApiToken.issue(user, name, timezone.now(), expires_at=expires_at)
        _record(Act.TOKEN_CREATED, token)
    return token, plain


def revoke(tokens: QuerySet[ApiToken]) -> int:
    """Revoke those of the tokens that are not revoked yet, and return how many."""
    with transaction.atomic():
        alive = list(tokens.filter(revoked_at=None).select_for_update(of=("self",)))
        ApiToken.objects.filter(pk__in=[token.pk for token in alive]).update(revoked_at=timezone.now())
        for token in alive:
            _record(Act.TOKEN_REVOKED, token)
    return len(alive)


def _record(act: Act, token: ApiToken) -> None:
    # The prefix, which lists also contain, tells tokens of one name apart.
    activity.record(act, owner=token.user_id, name=token.name, prefix=token.prefix)
