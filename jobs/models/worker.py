"""Workers as they were last heard of: what the monitor shows and `explain` asks."""

from django.db import models


class Worker(models.Model):
    """Written by each worker's heartbeat; a row that is not renewed is a worker that is gone."""

    name = models.CharField(primary_key=True, max_length=200)
    roles = models.JSONField(default=list)
    slots = models.IntegerField(default=1)
    running = models.IntegerField(default=0)
    draining = models.BooleanField(default=False)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        db_table = "workers"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Counter(models.Model):
    """Things that should be rare, counted since the beginning: see jobs/counters.py."""

    name = models.CharField(primary_key=True, max_length=40)
    value = models.BigIntegerField(default=0)

    class Meta:
        db_table = "engine_counters"

    def __str__(self) -> str:
        return f"{self.name} {self.value}"
