"""The same guards at less cost for each write: checks and triggers by function, and no look-up of an attempt's
Execution. New: the event of a changed priority.

Not one transaction: each ALTER holds its lock for a moment only, and the rows that are there are looked through
under a lock that lets work go on. Each statement may be run again after a stop in the middle.
"""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.expressions import RawSQL

from jobs.sql.call import ENGINE

CHECKS = {
    ("job", "job_queue", "job_is_whole"): "dure_job_is_whole(status, completed_at, execution_id)",
    (
        "execution",
        "job_executions",
        "execution_is_whole",
    ): "dure_execution_is_whole(status, locked_until, finished_at, trigger, job_id)",
}


def replaced(model: str, table: str, name: str, check: str) -> list[migrations.RunSQL]:
    constraint = models.CheckConstraint(
        name=name, condition=RawSQL(check, (), output_field=models.BooleanField())
    )
    return [
        migrations.RunSQL(
            f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}, ADD CONSTRAINT {name} CHECK ({check}) NOT VALID",
            migrations.RunSQL.noop,
            state_operations=[
                migrations.RemoveConstraint(model, name),
                migrations.AddConstraint(model, constraint),
            ],
        ),
        migrations.RunSQL(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}", migrations.RunSQL.noop),
    ]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("jobs", "0002_engine")]
    operations = [
        migrations.RunSQL(ENGINE.read_text(), migrations.RunSQL.noop),
        *(operation for key, check in CHECKS.items() for operation in replaced(*key, check)),
        migrations.AlterField(
            "attempt",
            "execution",
            models.ForeignKey(
                "jobs.execution",
                django.db.models.deletion.CASCADE,
                related_name="attempts",
                db_constraint=False,
                db_index=False,
            ),
        ),
        migrations.AlterField(
            "event",
            "type",
            models.CharField(
                choices=[
                    ("job_ready", "Job Ready"),
                    ("job_started", "Job Started"),
                    ("job_completed", "Job Completed"),
                    ("job_failed", "Job Failed"),
                    ("job_timeout", "Job Timeout"),
                    ("job_retrying", "Job Retrying"),
                    ("job_cancelled", "Job Cancelled"),
                    ("batch_completed", "Batch Completed"),
                    ("job_reprioritised", "Job Reprioritised"),
                ],
                max_length=20,
            ),
        ),
    ]
