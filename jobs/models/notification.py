"""Webhooks, and the notifications that they and an office's mail addresses receive."""

import json
from typing import Any
from urllib.parse import urlsplit

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from jobs.models.deletion import ExistingRows
from jobs.models.office import Office
from jobs.states import WebhookFormat


class Webhook(models.Model):
    """An address that receives an office's events: signed after the Standard Webhooks specification, or as
    the messages of a chat."""

    office = models.ForeignKey(
        Office, on_delete=models.CASCADE, related_name="webhooks", verbose_name=_("office")
    )
    url = models.URLField(_("address"), max_length=2000)
    format = models.CharField(
        _("message format"),
        max_length=10,
        choices=WebhookFormat.choices,
        default=WebhookFormat.DURE,
        db_default=WebhookFormat.DURE.value,
    )
    secret = models.CharField(_("secret"), max_length=200, editable=False)
    # The previous secret also signs until then, so that a receiver can change over in its own time.
    old_secret = models.CharField(_("old secret"), max_length=200, editable=False, blank=True, default="")
    old_secret_until = models.DateTimeField(_("old secret until"), null=True, blank=True, editable=False)
    event_types = models.JSONField(_("events"), default=list, blank=True)
    enabled = models.BooleanField(_("enabled"), default=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    disabled_reason = models.CharField(_("disabled reason"), max_length=200, blank=True)
    # The receiver did not answer, or requested a pause: Dure sends it nothing before this time.
    paused_until = models.DateTimeField(_("paused until"), null=True, blank=True, editable=False)
    # A deleted webhook receives nothing. Retention deletes it when nobody can undo the deletion any more.
    deleted_at = models.DateTimeField(_("deleted at"), null=True, blank=True, editable=False)

    objects = ExistingRows["Webhook"]()
    with_deleted = models.Manager["Webhook"]()

    class Meta:
        db_table = "office_webhooks"
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(name="webhook_format_known", condition=Q(format__in=WebhookFormat.values))
        ]

    def __str__(self) -> str:
        return self.public_url

    @property
    def is_chat(self) -> bool:
        return self.format != WebhookFormat.DURE

    @property
    def public_url(self) -> str:
        """The URL of a chat is its credential: only the server is public."""
        if not self.is_chat:
            return self.url
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}/…"


class EventCursor(models.Model):
    """The last event for which an office's notifications exist. Its row lock admits one creator at a time."""

    office = models.OneToOneField(
        Office, on_delete=models.CASCADE, primary_key=True, related_name="+", verbose_name=_("office")
    )
    event_id = models.BigIntegerField(_("event"), default=0)

    class Meta:
        db_table = "event_cursors"
        verbose_name = _("notification cursor")
        verbose_name_plural = _("notification cursors")

    def __str__(self) -> str:
        return f"{self.office_id} up to {self.event_id}"


class Notification(models.Model):
    """One event for one receiver: a webhook, or a mail address where there is no webhook."""

    office = models.ForeignKey(
        Office, on_delete=models.CASCADE, related_name="notifications", verbose_name=_("office")
    )
    webhook = models.ForeignKey(
        Webhook, on_delete=models.CASCADE, null=True, related_name="notifications", verbose_name=_("webhook")
    )
    address = models.CharField(_("email address"), max_length=320, blank=True)
    event_id = models.BigIntegerField(_("event"))
    body = models.TextField(_("message"))
    created_at = models.DateTimeField(_("created at"))
    attempts = models.IntegerField(_("attempts"), default=0)
    next_at = models.DateTimeField(_("next attempt at"), null=True)
    sent_at = models.DateTimeField(_("delivered at"), null=True)
    gave_up_at = models.DateTimeField(_("given up at"), null=True)
    answer = models.CharField(_("response"), max_length=500, blank=True)

    class Meta:
        db_table = "notifications"
        verbose_name = _("notification")
        verbose_name_plural = _("notifications")
        indexes = [
            # delivery: due notifications.
            models.Index(fields=["next_at"], name="notifications_due", condition=Q(next_at__isnull=False)),
            # delivery: a webhook's oldest.
            models.Index(
                fields=["webhook", "id"], name="notifications_of_webhook", condition=Q(next_at__isnull=False)
            ),
            models.Index(fields=["office", "-id"], name="notifications_of_office"),
            # creation: the last mail to an address.
            models.Index(
                fields=["office", "address", "-id"],
                name="mails_of_address",
                condition=Q(webhook__isnull=True),
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["event_id", "webhook", "address"],
                name="one_notification_per_event",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return f"event {self.event_id} to {self.address or self.webhook_id}"

    @property
    def message_id(self) -> str:
        return message_id(self.pk)

    @property
    def parsed_body(self) -> Any:
        return json.loads(self.body)


def message_id(notification: int) -> str:
    """The `webhook-id`: the same for all attempts, and when the message is sent again by hand."""
    return f"msg_{notification}"
