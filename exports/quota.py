"""The storage of an owner: replays, and results that have not expired; and the quota."""

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Sum

from exports.models import ExportJob, Replay
from jobs.errors import TooLarge


@dataclass(frozen=True, slots=True)
class Usage:
    replay_bytes: int
    result_bytes: int
    # None: there is no quota.
    quota_bytes: int | None

    @property
    def used_bytes(self) -> int:
        return self.replay_bytes + self.result_bytes


def usage_of(owner_id: int) -> Usage:
    replays = Replay.objects.filter(owner_id=owner_id).aggregate(bytes=Sum("size_bytes", default=0))
    kept = ExportJob.objects.filter(owner_id=owner_id, expired_at__isnull=True)
    results = kept.aggregate(bytes=Sum("result_size", default=0))
    return Usage(replays["bytes"], results["bytes"], settings.DURE_EXPORT_QUOTA_BYTES or None)


def check(owner_id: int, more: int) -> None:
    """Refuses what would take the owner above the quota. A result of unknown size counts as one byte."""
    usage = usage_of(owner_id)
    if usage.quota_bytes is not None and usage.used_bytes + more > usage.quota_bytes:
        raise TooLarge("quota_exceeded", used=usage.used_bytes, quota=usage.quota_bytes)


def lock(owner_id: int) -> None:
    """Inside a transaction: two uploads at once cannot both take the last of the quota."""
    User.objects.select_for_update(no_key=True).get(pk=owner_id)
