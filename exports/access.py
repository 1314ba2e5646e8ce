"""Which exports a user may see."""

from django.contrib.auth.models import User
from django.db.models import QuerySet

from exports.models import ExportJob


def exports_of(user: User) -> QuerySet[ExportJob]:
    """The user's own: nobody reaches those of others."""
    return ExportJob.objects.filter(owner=user).select_related("replay")
