"""What the monitor remembers: canaries, and the ended Executions of each minute."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Canary(models.Model):
    """The last no-op sent through a role's queue, and when a worker consumed one."""

    role = models.CharField(_("queue"), primary_key=True, max_length=40)
    sent_at = models.DateTimeField(_("sent at"), null=True, blank=True)
    seen_at = models.DateTimeField(_("last heard of at"), null=True, blank=True)

    class Meta:
        db_table = "queue_canaries"
        verbose_name = _("canary")
        verbose_name_plural = _("canaries")

    def __str__(self) -> str:
        return self.role


class Minute(models.Model):
    """How many Executions ended in a minute, and how long they took: counted once, when it is over."""

    minute = models.DateTimeField(_("minute"), primary_key=True)
    done = models.PositiveIntegerField(_("done"))
    failed = models.PositiveIntegerField(_("failed"))
    # The 95th percentiles of waiting until the first start, and of running.
    wait_ms = models.PositiveBigIntegerField(_("waited (ms, 95 %)"), null=True)
    run_ms = models.PositiveBigIntegerField(_("ran (ms, 95 %)"), null=True)

    class Meta:
        db_table = "execution_minutes"
        verbose_name = _("counted minute")
        verbose_name_plural = _("counted minutes")

    def __str__(self) -> str:
        return f"{self.minute}: {self.done} done, {self.failed} failed"
