"""Which exports and replays a user may see: their own, and nobody else's."""

from django.contrib.auth.models import User
from django.db.models import QuerySet

from exports.models import ExportJob, Replay


def exports_of(user: User) -> QuerySet[ExportJob]:
    return ExportJob.objects.filter(owner=user)


def replays_of(user: User) -> QuerySet[Replay]:
    return Replay.objects.filter(owner=user)
