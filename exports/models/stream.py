"""Messages of the streams that wait: to be sent, or for an operator."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class StreamOutbox(models.Model):
    """A message to send, stored in the transaction of the change that it reports, and deleted once sent."""

    # Redis keeps it, so that a message whose row was not deleted in time goes out once.
    token = models.UUIDField(_("token"), default=uuid.uuid4, editable=False)
    stream = models.CharField(_("stream"), max_length=64)
    fields = models.JSONField(_("message"))
    created_at = models.DateTimeField(_("created at"))
    # A listener is sending it; after this time another may.
    taken_until = models.DateTimeField(_("claimed until"), null=True, blank=True)

    class Meta:
        db_table = "stream_outbox"
        verbose_name = _("outbox message")
        verbose_name_plural = _("outbox messages")

    def __str__(self) -> str:
        return f"{self.stream} {self.id}"


class DeadLetter(models.Model):
    """A message that could not be parsed or applied, kept until an operator decides."""

    class State(models.TextChoices):
        """OPEN waits for an operator; the other two record what an operator did."""

        OPEN = "open"
        REPUBLISHED = "republished"
        DISCARDED = "discarded"

    source_stream = models.CharField(_("stream"), max_length=64)
    source_id = models.CharField(_("message id"), max_length=64)
    fields = models.JSONField(_("message"))
    # Whether `fields` is complete: a message that was cut cannot be sent again.
    whole = models.BooleanField(_("whole"), default=True)
    reason = models.CharField(_("reason"), max_length=500)
    failed_at = models.DateTimeField(_("failed at"))
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.OPEN)
    handled_at = models.DateTimeField(_("handled at"), null=True, blank=True)
    handled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("handled by"),
    )

    class Meta:
        db_table = "dead_letters"
        verbose_name = _("dead letter")
        verbose_name_plural = _("dead letters")
        indexes = [models.Index(fields=["state", "-id"], name="dead_letters_newest")]  # the operators' list
        constraints = [
            # A message that was delivered twice is stored once.
            models.UniqueConstraint(fields=["source_stream", "source_id"], name="one_letter_per_message"),
            models.CheckConstraint(
                name="dead_letter_handled_iff_not_open",
                condition=Q(state="open", handled_at__isnull=True)
                | (~Q(state="open") & Q(handled_at__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source_stream} {self.source_id}"
