"""Offices: the tenants that own jobs, members and limits."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from dure.failures import RETRYABLE
from jobs.ids import uuid7
from jobs.states import Backoff, MemberRole


def default_role_limits() -> dict[str, int]:
    return {"FE": 1, "BE": 1, "QA": 1, "DevOps": 1}


def default_role_timeouts() -> dict[str, int]:
    minutes = {"PO": 15, "Architect": 20, "FE": 30, "BE": 30, "QA": 45, "DevOps": 20}
    return {role: count * 60_000 for role, count in minutes.items()}


def default_retryable_failures() -> list[str]:
    return [str(failure) for failure in RETRYABLE]


class Office(models.Model):
    """A tenant. Its row's lock orders everything that happens to its jobs."""

    id = models.UUIDField(_("ID"), primary_key=True, default=uuid7, editable=False)
    name = models.CharField(_("name"), max_length=200)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    max_concurrent_jobs = models.PositiveIntegerField(_("concurrent jobs"), default=3)
    max_concurrent_by_role = models.JSONField(
        _("concurrent jobs by role"), default=default_role_limits, blank=True
    )
    default_timeout_ms = models.PositiveIntegerField(_("time limit (ms)"), default=1_800_000)
    default_timeout_by_role = models.JSONField(
        _("time limits by role (ms)"), default=default_role_timeouts, blank=True
    )
    max_retries = models.PositiveIntegerField(_("max retries"), default=2)
    retry_backoff = models.CharField(
        _("backoff"), max_length=12, choices=Backoff.choices, default=Backoff.EXPONENTIAL
    )
    retry_base_delay_ms = models.PositiveIntegerField(_("initial retry delay (ms)"), default=60_000)
    retryable_failures = models.JSONField(_("retry on"), default=default_retryable_failures, blank=True)
    paused = models.BooleanField(_("paused"), default=False)
    notify_emails = models.JSONField(_("email addresses"), default=list, blank=True)

    # The engine requests notifications after each commit only while a webhook is enabled.
    has_webhooks = models.BooleanField(_("has webhooks"), default=False, editable=False)
    # The engine publishes each change only while a socket watches the office's events: see jobs/sockets/.
    watched_until = models.DateTimeField(_("watched until"), null=True, blank=True, editable=False)

    # Whether a limit of a Task holds ready jobs of this office: see dure_hold_jobs.
    holds = models.BooleanField(_("has held jobs"), default=False, db_default=False, editable=False)

    class Meta:
        db_table = "offices"
        verbose_name = _("office")
        verbose_name_plural = _("offices")
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    office = models.ForeignKey(
        Office, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("office")
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("user")
    )
    role = models.CharField(_("role"), max_length=12, choices=MemberRole.choices, default=MemberRole.OPERATOR)

    class Meta:
        db_table = "office_members"
        verbose_name = _("member")
        verbose_name_plural = _("members")
        constraints = [models.UniqueConstraint(fields=["office", "user"], name="one_membership_per_user")]

    def __str__(self) -> str:
        return f"{self.user} in {self.office} ({self.role})"
