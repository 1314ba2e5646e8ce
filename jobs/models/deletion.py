"""What users have deleted on a page and may restore for a while."""

from typing import TypeVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from jobs.ids import uuid7
from jobs.states import DeletedKind

Row = TypeVar("Row", bound=models.Model)


class ExistingRows(models.Manager[Row]):
    """Leaves out the rows that are marked as deleted, of a model with `deleted_at`."""

    def get_queryset(self) -> models.QuerySet[Row]:
        return super().get_queryset().filter(deleted_at=None)


class Deletion(models.Model):
    """A deleted row as it was, or the id of a marked one; deletions.py keeps and restores it."""

    id = models.UUIDField(_("ID"), primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", verbose_name=_("user")
    )
    kind = models.CharField(_("kind"), max_length=10, choices=DeletedKind.choices)
    # As Django's serializer writes it.
    row = models.JSONField(_("row"))
    deleted_at = models.DateTimeField(_("deleted at"))
    undone_at = models.DateTimeField(_("undone at"), null=True, blank=True)

    class Meta:
        db_table = "deletions"
        verbose_name = _("deletion")
        verbose_name_plural = _("deletions")
        indexes = [
            # retention.
            models.Index(fields=["deleted_at"], name="deletions_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"
