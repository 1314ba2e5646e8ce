"""Filters of the list of runs that users keep under a name."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from jobs.ids import uuid7


class SavedView(models.Model):
    """A named filter of one user: the query of its address."""

    id = models.UUIDField(_("ID"), primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", verbose_name=_("user")
    )
    name = models.CharField(_("name"), max_length=100)
    query = models.CharField(_("filter"), max_length=2000, blank=True)

    class Meta:
        db_table = "saved_views"
        verbose_name = _("saved view")
        verbose_name_plural = _("saved views")
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="one_saved_view_per_name")]

    def __str__(self) -> str:
        return self.name
