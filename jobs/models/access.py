"""API tokens, socket tickets, and the stored answers of idempotent requests.

A secret is kept as its SHA-256 only. It is 32 random bytes, so nothing slower is needed, and the
lookup by the digest compares no secret byte by byte.
"""

import hashlib
import secrets
from datetime import datetime
from typing import Self

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.utils.translation import gettext_lazy as _

TOKEN_PREFIX = "dure_"  # noqa: S105 (the part of every token that tells scanners whose it is)
SHOWN = len(TOKEN_PREFIX) + 6


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


class ApiToken(models.Model):
    """A named key of a user. The plain text is shown once, when it is issued."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens", verbose_name=_("user")
    )
    name = models.CharField(_("name"), max_length=100)
    prefix = models.CharField(_("prefix"), max_length=16, editable=False)
    digest = models.CharField(_("digest"), max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(_("created at"))
    last_used_at = models.DateTimeField(_("last used at"), null=True, blank=True)
    expires_at = models.DateTimeField(_("expires at"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)

    class Meta:
        db_table = "api_tokens"
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"

    @classmethod
    def issue(
        cls,
        user: User,
        name: str,
        now: datetime,
        secret: str | None = None,
        expires_at: datetime | None = None,
    ) -> tuple[Self, str]:
        """The new row, and its plain text, which exists nowhere else."""
        plain = TOKEN_PREFIX + (secret or secrets.token_urlsafe(32))
        row = cls.objects.create(
            user=user,
            name=name,
            prefix=plain[:SHOWN],
            digest=digest_of(plain),
            created_at=now,
            expires_at=expires_at,
        )
        return row, plain

    def is_alive(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


class SocketTicket(models.Model):
    """Opens one socket within 30 seconds; the row is deleted as it is used.

    It refers to the credential of the request, so that the socket ends when that credential does.
    """

    digest = models.CharField(_("digest"), max_length=64, primary_key=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", verbose_name=_("user")
    )
    token = models.ForeignKey(
        ApiToken, on_delete=models.CASCADE, null=True, related_name="+", verbose_name=_("token")
    )
    session_key = models.CharField(_("session"), max_length=40, blank=True)
    expires_at = models.DateTimeField(_("expires at"), db_index=True)  # read when the expired ones are swept

    class Meta:
        db_table = "socket_tickets"
        verbose_name = _("socket ticket")
        verbose_name_plural = _("socket tickets")

    def __str__(self) -> str:
        return f"ticket of {self.user_id} until {self.expires_at:%H:%M:%S}"


class IdempotentAnswer(models.Model):
    """The response to a POST with an Idempotency-Key, written in the transaction of its effect."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", verbose_name=_("user")
    )
    path = models.TextField(_("path"))
    key = models.CharField(_("key"), max_length=200)
    digest = models.CharField(_("digest"), max_length=64)  # of the request's body and query
    status = models.PositiveSmallIntegerField(
        _("response status"), null=True
    )  # null only while the first request runs
    body = models.TextField(_("response"), blank=True)
    location = models.TextField(_("location"), blank=True)
    created_at = models.DateTimeField(_("created at"), db_index=True)  # read when the old ones are forgotten

    class Meta:
        db_table = "idempotent_answers"
        verbose_name = _("stored response")
        verbose_name_plural = _("stored responses")
        constraints = [models.UniqueConstraint(fields=["user", "path", "key"], name="one_answer_per_key")]

    def __str__(self) -> str:
        return f"{self.path} {self.key}: {self.status}"
