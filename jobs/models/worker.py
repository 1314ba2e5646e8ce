"""Workers with their last heartbeat, for the overview and `explain`."""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Worker(models.Model):
    """A worker. Each heartbeat renews its row; a row without renewal belongs to a dead worker."""

    name = models.CharField(_("name"), primary_key=True, max_length=200)
    roles = models.JSONField(_("roles"), default=list)
    slots = models.IntegerField(_("slots"), default=1)
    running = models.IntegerField(_("running"), default=0)
    draining = models.BooleanField(_("draining"), default=False)
    started_at = models.DateTimeField(_("started at"))
    seen_at = models.DateTimeField(_("last heartbeat"))

    class Meta:
        db_table = "workers"
        verbose_name = _("worker")
        verbose_name_plural = _("workers")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ServedRole(models.Model):
    """A role with a worker that is neither dead nor draining: dispatch sends jobs of these alone."""

    role = models.CharField(_("role"), primary_key=True, max_length=64)
    # The end of the lease of the last of its workers.
    until = models.DateTimeField(_("served until"))

    class Meta:
        db_table = "served_roles"
        verbose_name = _("served role")
        verbose_name_plural = _("served roles")

    def __str__(self) -> str:
        return self.role


class PausedRole(models.Model):
    """A role of which no run starts until it is resumed: see jobs/queues.py."""

    role = models.CharField(_("role"), primary_key=True, max_length=64)
    since = models.DateTimeField(_("since"), db_default=Now())
    by = models.CharField(_("by"), max_length=150)
    reason = models.CharField(_("reason"), max_length=500, blank=True)

    class Meta:
        db_table = "paused_roles"
        verbose_name = _("paused queue")
        verbose_name_plural = _("paused queues")
        ordering = ["role"]

    def __str__(self) -> str:
        return self.role


class Counter(models.Model):
    """Things that should be rare, counted since the beginning: see jobs/counters.py."""

    name = models.CharField(_("name"), primary_key=True, max_length=40)
    value = models.BigIntegerField(_("value"), default=0)

    class Meta:
        db_table = "engine_counters"
        verbose_name = _("counter")
        verbose_name_plural = _("counters")

    def __str__(self) -> str:
        return f"{self.name} {self.value}"
