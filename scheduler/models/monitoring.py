"""Statistics for the overview: beats, queue probes, and the Executions that ended in each minute."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Beat(models.Model):
    """A beat process, and when it last looked for due work. Deleted when the process stops."""

    name = models.CharField(_("name"), primary_key=True, max_length=200)
    seen_at = models.DateTimeField(_("last seen at"))

    class Meta:
        db_table = "beats"
        verbose_name = _("beat")
        verbose_name_plural = _("beats")

    def __str__(self) -> str:
        return self.name


class BeatLeader(models.Model):
    """The beat that sends the PeriodicTasks: a single row."""

    name = models.CharField(_("name"), primary_key=True, max_length=40)
    holder = models.CharField(_("beat"), max_length=200)
    since = models.DateTimeField(_("since"))
    leads_until = models.DateTimeField(_("leads until"))

    class Meta:
        db_table = "beat_leader"
        verbose_name = _("leading beat")
        verbose_name_plural = _("leading beat")

    def __str__(self) -> str:
        return self.holder


class QueueProbe(models.Model):
    """The last no-op message sent through a queue, and when a worker last consumed one."""

    role = models.CharField(_("queue"), primary_key=True, max_length=64)
    sent_at = models.DateTimeField(_("sent at"), null=True, blank=True)
    seen_at = models.DateTimeField(_("last seen at"), null=True, blank=True)

    class Meta:
        db_table = "queue_probes"
        verbose_name = _("queue probe")
        verbose_name_plural = _("queue probes")

    def __str__(self) -> str:
        return self.role


class Counts(models.Model):
    """How many Executions ended in a minute, how long they took, and how many were queued after it."""

    done = models.PositiveIntegerField(_("succeeded"))
    failed = models.PositiveIntegerField(_("failed"))
    # Medians and 95th percentiles of the time until the first start, and of the last attempt's duration.
    wait_p50_ms = models.PositiveBigIntegerField(_("wait (ms, p50)"), null=True)
    run_p50_ms = models.PositiveBigIntegerField(_("duration (ms, p50)"), null=True)
    queued = models.PositiveIntegerField(_("queued"), null=True)
    wait_ms = models.PositiveBigIntegerField(_("wait (ms, p95)"), null=True)
    run_ms = models.PositiveBigIntegerField(_("duration (ms, p95)"), null=True)

    class Meta:
        abstract = True


class Minute(Counts):
    """All Executions of a minute."""

    minute = models.DateTimeField(_("minute"), primary_key=True)

    class Meta:
        db_table = "execution_minutes"
        verbose_name = _("minute statistics")
        verbose_name_plural = _("minute statistics")

    def __str__(self) -> str:
        return f"{self.minute}: {self.done} succeeded, {self.failed} failed"


class RoleMinute(Counts):
    """Those of one role. A minute in which nothing ended and nothing was queued has no row."""

    role = models.CharField(_("role"), max_length=64)
    minute = models.DateTimeField(_("minute"))

    class Meta:
        db_table = "role_minutes"
        verbose_name = _("minute statistics of a role")
        verbose_name_plural = _("minute statistics of roles")
        constraints = [models.UniqueConstraint(fields=["role", "minute"], name="role_minutes_once")]

    def __str__(self) -> str:
        return f"{self.role} {self.minute}: {self.done} succeeded, {self.failed} failed"
