"""What the monitor remembers: canaries, and the ended Executions of each minute."""

from django.db import models


class Canary(models.Model):
    """The last no-op sent through a role's queue, and when a worker consumed one."""

    role = models.CharField(primary_key=True, max_length=40)
    sent_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "queue_canaries"
        verbose_name_plural = "canaries"

    def __str__(self) -> str:
        return self.role


class Minute(models.Model):
    """How many Executions ended in a minute, and how long they took: counted once, when it is over."""

    minute = models.DateTimeField(primary_key=True)
    done = models.PositiveIntegerField()
    failed = models.PositiveIntegerField()
    # The 95th percentiles of waiting until the first start, and of running.
    wait_ms = models.PositiveBigIntegerField(null=True)
    run_ms = models.PositiveBigIntegerField(null=True)

    class Meta:
        db_table = "execution_minutes"

    def __str__(self) -> str:
        return f"{self.minute}: {self.done} done, {self.failed} failed"
