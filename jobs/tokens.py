"""A user's API tokens: issuing and revoking them. jobs/models/access.py keeps their digests."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from jobs.models import ApiToken

MOST_DAYS = 36_500
LONGEST_NAME = 100


def issue(user: User, name: str, days: int | None = None) -> str:
    """A new token, which expires after so many days. Its text exists nowhere else."""
    now = timezone.now()
    expires_at = now + timedelta(days=days) if days is not None else None
    return ApiToken.issue(user, name, now, expires_at=expires_at)[1]


def revoke(tokens: QuerySet[ApiToken]) -> int:
    """Revoke those of the tokens that are not revoked yet, and return how many."""
    return tokens.filter(revoked_at=None).update(revoked_at=timezone.now())
