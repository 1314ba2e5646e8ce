"""What people did to an office itself. The acts on its jobs are among its events."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from jobs.models.office import Office
from jobs.states import Act


class Activity(models.Model):
    """One act, written in its transaction. The details hold no secret, and no URL that may contain one."""

    office = models.ForeignKey(
        Office, on_delete=models.CASCADE, db_index=False, related_name="activity", verbose_name=_("office")
    )
    # The user's name, which stays when the user is deleted; empty if the system itself did it.
    actor = models.CharField(_("by"), max_length=150, blank=True)
    act = models.CharField(_("what happened"), max_length=30, choices=Act.choices)
    details = models.JSONField(_("details"), default=dict)
    at = models.DateTimeField(_("time"), db_index=True)  # read when the old ones are deleted

    class Meta:
        db_table = "office_activity"
        verbose_name = _("activity")
        verbose_name_plural = _("activity")
        indexes = [
            # the office's page.
            models.Index(fields=["office", "-id"], name="activity_of_office"),
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.act}"
