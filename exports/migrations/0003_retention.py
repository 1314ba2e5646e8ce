"""Exports and their files do not stay for ever: see exports/retention.py, and the admin for its rhythm."""

from django.conf import settings
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

NAME, TASK, SECONDS = "dure: exports", "dure.prune_exports", 3_600
DESCRIPTION = "Expires and deletes exports that ended longer ago than DURE_EXPORT_FILE_DAYS and _RETENTION_DAYS."


def create(apps, schema_editor):
    every, _ = apps.get_model("django_celery_beat", "IntervalSchedule").objects.get_or_create(
        every=SECONDS, period="seconds"
    )
    apps.get_model("django_celery_beat", "PeriodicTask").objects.get_or_create(
        name=NAME,
        defaults={
            "task": TASK,
            "queue": settings.DURE_CONTROL_QUEUE,
            "interval": every,
            "expire_seconds": SECONDS,
            "description": DESCRIPTION,
        },
    )


def remove(apps, schema_editor):
    apps.get_model("django_celery_beat", "PeriodicTask").objects.filter(name=NAME).delete()


class Migration(migrations.Migration):
    # For the index that no writer waits for.
    atomic = False

    dependencies = [
        ("exports", "0002_guards"),
        ("django_celery_beat", "0019_alter_periodictasks_options"),
    ]
    operations = [
        migrations.AddField("exportjob", "expired_at", models.DateTimeField("expired at", null=True, blank=True)),
        migrations.AddConstraint(
            "exportjob",
            models.CheckConstraint(
                name="export_expired_only_if_succeeded",
                condition=models.Q(expired_at__isnull=True) | models.Q(status="SUCCEEDED"),
            ),
        ),
        AddIndexConcurrently(
            "exportjob",
            models.Index(
                fields=["ended_at"], name="exports_by_end", condition=models.Q(ended_at__isnull=False)
            ),
        ),
        migrations.RunPython(create, remove),
    ]
