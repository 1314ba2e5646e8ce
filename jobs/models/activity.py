"""What people did to what an office or a user owns. The acts on single jobs are among the events."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from jobs.models.office import Office
from jobs.states import Act, Surface


class Activity(models.Model):
    """One act, written in its transaction. The details hold no secret, and no URL that may contain one."""

    # Of the two the one whose log it is in.
    office = models.ForeignKey(
        Office,
        on_delete=models.CASCADE,
        db_index=False,
        related_name="activity",
        null=True,
        verbose_name=_("office"),
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        db_index=False,
        related_name="activity",
        null=True,
        verbose_name=_("owner"),
    )
    # The user's name, which stays when the user is deleted; empty if the system itself did it.
    actor = models.CharField(_("by"), max_length=150, blank=True)
    # Empty if the verb was called by none of them.
    surface = models.CharField(_("surface"), max_length=10, choices=Surface.choices, blank=True)
    # The name of the API token, if one was used.
    token = models.CharField(_("token"), max_length=100, blank=True)
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
            # the user's account.
            models.Index(fields=["owner", "-id"], name="activity_of_owner", condition=Q(owner__isnull=False)),
        ]
        constraints = [
            models.CheckConstraint(
                name="activity_has_one_log", condition=Q(office__isnull=True) ^ Q(owner__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.act}"
