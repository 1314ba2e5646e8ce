"""Until when each user has seen the alerts."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class AlertsSeen(models.Model):
    """When a user last opened the list of alerts; later ones are new."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="+",
        verbose_name=_("user"),
    )
    seen_at = models.DateTimeField(_("seen at"))

    class Meta:
        db_table = "alerts_seen"
        verbose_name = _("seen alerts")
        verbose_name_plural = _("seen alerts")

    def __str__(self) -> str:
        return f"{self.user_id} until {self.seen_at}"
