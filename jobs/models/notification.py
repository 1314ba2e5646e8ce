"""What an office wants to be told of, where, and each telling."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from jobs.models.office import Office


class Webhook(models.Model):
    """An address that is told of an office's events, signed after the Standard Webhooks specification."""

    office = models.ForeignKey(
        Office, on_delete=models.CASCADE, related_name="webhooks", verbose_name=_("office")
    )
    url = models.URLField(_("address"), max_length=2000)
    secret = models.CharField(_("secret"), max_length=200, editable=False)
    # The one before, which still signs too until then, so that a receiver can change over in its own time.
    old_secret = models.CharField(_("old secret"), max_length=200, editable=False, blank=True, default="")
    old_secret_until = models.DateTimeField(_("old secret until"), null=True, blank=True, editable=False)
    event_types = models.JSONField(_("events"), default=list, blank=True)
    enabled = models.BooleanField(_("enabled"), default=True)
    created_at = models.DateTimeField(_("made at"), auto_now_add=True)
    disabled_reason = models.CharField(_("why disabled"), max_length=200, blank=True)
    # It did not answer, or asked to be left alone: until then nothing is sent to it.
    spared_until = models.DateTimeField(_("left alone until"), null=True, blank=True, editable=False)

    class Meta:
        db_table = "office_webhooks"
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        ordering = ["id"]

    def __str__(self) -> str:
        return self.url


class NoticeCursor(models.Model):
    """Up to which event an office's notices have been made. Its lock lets one relay work at a time."""

    office = models.OneToOneField(
        Office, on_delete=models.CASCADE, primary_key=True, related_name="+", verbose_name=_("office")
    )
    event_id = models.BigIntegerField(_("event"), default=0)

    class Meta:
        db_table = "notice_cursors"
        verbose_name = _("notices' cursor")
        verbose_name_plural = _("notices' cursors")

    def __str__(self) -> str:
        return f"{self.office_id} up to {self.event_id}"


class Notice(models.Model):
    """One event to one address: a webhook's, or a mail's when there is no webhook."""

    office = models.ForeignKey(
        Office, on_delete=models.CASCADE, related_name="notices", verbose_name=_("office")
    )
    webhook = models.ForeignKey(
        Webhook, on_delete=models.CASCADE, null=True, related_name="notices", verbose_name=_("webhook")
    )
    address = models.CharField(_("mail address"), max_length=320, blank=True)
    event_id = models.BigIntegerField(_("event"))
    body = models.TextField(_("message"))
    created_at = models.DateTimeField(_("made at"))
    attempts = models.IntegerField(_("attempts"), default=0)
    next_at = models.DateTimeField(_("next attempt at"), null=True)
    sent_at = models.DateTimeField(_("arrived at"), null=True)
    gave_up_at = models.DateTimeField(_("given up at"), null=True)
    answer = models.CharField(_("answer"), max_length=500, blank=True)

    class Meta:
        db_table = "notices"
        verbose_name = _("notice")
        verbose_name_plural = _("notices")
        indexes = [
            # deliver: what is due.
            models.Index(fields=["next_at"], name="notices_due", condition=Q(next_at__isnull=False)),
            # deliver: the oldest of a webhook's.
            models.Index(
                fields=["webhook", "id"], name="notices_of_webhook", condition=Q(next_at__isnull=False)
            ),
            models.Index(fields=["office", "-id"], name="notices_of_office"),
            # relay: when an address was last written to.
            models.Index(
                fields=["office", "address", "-id"],
                name="mails_of_address",
                condition=Q(webhook__isnull=True),
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["event_id", "webhook", "address"], name="one_notice_per_event", nulls_distinct=False
            ),
        ]

    def __str__(self) -> str:
        return f"event {self.event_id} to {self.address or self.webhook_id}"
