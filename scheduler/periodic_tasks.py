"""The PeriodicTask whose interval is a setting."""

from django.conf import settings
from django_celery_beat.models import IntervalSchedule, PeriodicTask, PeriodicTasks

SWEEP = "dure.sweep"


def apply_sweep_interval() -> None:
    """Set the interval of the sweep to DURE_SWEEP_SECONDS, which may have changed before beat started."""
    microseconds = round(settings.DURE_SWEEP_SECONDS * 1_000_000)
    if microseconds % 1_000_000:
        interval = {"every": microseconds, "period": IntervalSchedule.MICROSECONDS}
    else:
        interval = {"every": microseconds // 1_000_000, "period": IntervalSchedule.SECONDS}
    stale = PeriodicTask.objects.filter(task=SWEEP).exclude(
        interval__every=interval["every"], interval__period=interval["period"]
    )
    if stale.exists():
        # A sweep that no worker took in time expires, since the next one does the same.
        expires = max(10, 2 * microseconds // 1_000_000)
        schedule = IntervalSchedule.objects.get_or_create(**interval)[0]
        stale.update(interval=schedule, expire_seconds=expires)
        PeriodicTasks.update_changed()
