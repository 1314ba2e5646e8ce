"""What an office wants to be told of, where, and each telling."""

from django.db import models
from django.db.models import Q

from jobs.models.office import Office


class Webhook(models.Model):
    """An address that is told of an office's events, signed after the Standard Webhooks specification."""

    office = models.ForeignKey(Office, on_delete=models.CASCADE, related_name="webhooks")
    url = models.URLField(max_length=2000)
    secret = models.CharField(max_length=200, editable=False)
    # The one before, which still signs too until then, so that a receiver can change over in its own time.
    old_secret = models.CharField(max_length=200, editable=False, blank=True, default="")
    old_secret_until = models.DateTimeField(null=True, blank=True, editable=False)
    event_types = models.JSONField(default=list, blank=True)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    disabled_reason = models.CharField(max_length=200, blank=True)
    # It did not answer, or asked to be left alone: until then nothing is sent to it.
    spared_until = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        db_table = "office_webhooks"
        ordering = ["id"]

    def __str__(self) -> str:
        return self.url


class NoticeCursor(models.Model):
    """Up to which event an office's notices have been made. Its lock lets one relay work at a time."""

    office = models.OneToOneField(Office, on_delete=models.CASCADE, primary_key=True, related_name="+")
    event_id = models.BigIntegerField(default=0)

    class Meta:
        db_table = "notice_cursors"

    def __str__(self) -> str:
        return f"{self.office_id} up to {self.event_id}"


class Notice(models.Model):
    """One event to one address: a webhook's, or a mail's when there is no webhook."""

    office = models.ForeignKey(Office, on_delete=models.CASCADE, related_name="notices")
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, null=True, related_name="notices")
    address = models.CharField(max_length=320, blank=True)
    event_id = models.BigIntegerField()
    body = models.TextField()
    created_at = models.DateTimeField()
    attempts = models.IntegerField(default=0)
    next_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    gave_up_at = models.DateTimeField(null=True)
    answer = models.CharField(max_length=500, blank=True)

    class Meta:
        db_table = "notices"
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
