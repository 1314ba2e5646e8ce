"""The functions of step queues, and the maintenance tasks as PeriodicTasks that an operator can edit.

The interval of the sweep follows DURE_SWEEP_SECONDS: see scheduler/periodic_tasks.py.
"""

from pathlib import Path

from django.conf import settings
from django.db import migrations

SQL = Path(__file__).parent / "sql" / "0002_engine.sql"
# name, Celery task, seconds, what it is for
EVERY = (
    ("dure: sweep", "dure.sweep", None, "Rescues lost work and republishes lost messages."),
    ("dure: queue probes", "dure.send_queue_probes", 30, "Sends a no-op through every queue, to see that work is consumed."),
    ("dure: roll up minutes", "dure.rollup_minutes", 30, "Counts the Executions that ended in each minute."),
    ("dure: retention", "dure.retention", 300, "Deletes what ended longer ago than DURE_RETENTION_DAYS."),
)
MIDNIGHT = ("dure: schedule workflows", "dure.schedule_workflows", "Makes sure that each active workflow has its next run.")


def create(apps, schema_editor):
    interval = apps.get_model("django_celery_beat", "IntervalSchedule")
    crontab = apps.get_model("django_celery_beat", "CrontabSchedule")
    for name, task, seconds, description in EVERY:
        micros = round((seconds or settings.DURE_SWEEP_SECONDS) * 1_000_000)
        whole = micros % 1_000_000 == 0
        every, _ = interval.objects.get_or_create(
            every=micros // 1_000_000 if whole else micros, period="seconds" if whole else "microseconds"
        )
        _create_task(apps, name, task, description, expire=max(10, 2 * micros // 1_000_000), interval=every)
    midnight, _ = crontab.objects.get_or_create(
        minute="0", hour="0", day_of_week="*", day_of_month="*", month_of_year="*", timezone=settings.TIME_ZONE
    )
    _create_task(apps, *MIDNIGHT, expire=3600, crontab=midnight)


def _create_task(apps, name, task, description, expire, **when):
    apps.get_model("django_celery_beat", "PeriodicTask").objects.get_or_create(
        name=name,
        defaults={
            "task": task,
            "queue": settings.DURE_CONTROL_QUEUE,
            "expire_seconds": expire,
            "description": description,
            **when,
        },
    )


def remove(apps, schema_editor):
    names = [name for name, *_ in (*EVERY, MIDNIGHT)]
    apps.get_model("django_celery_beat", "PeriodicTask").objects.filter(name__in=names).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("scheduler", "0001_initial"),
        ("jobs", "0002_engine"),
        ("django_celery_beat", "0019_alter_periodictasks_options"),
    ]
    operations = [
        migrations.RunSQL(SQL.read_text(), migrations.RunSQL.noop),
        migrations.RunPython(create, remove),
    ]
