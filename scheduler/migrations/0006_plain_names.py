"""Renames models and columns to the words of the glossary; the tables of workflow runs keep their names."""

from django.db import migrations, models
from django.db.models import Q

OCCURRENCE_CONSTRAINTS = ("one_turn_per_due_time", "occurrence_run_iff_execution", "occurrence_turn_known")


class Migration(migrations.Migration):
    dependencies = [("scheduler", "0005_names")]

    operations = [
        migrations.RenameModel("Canary", "QueueProbe"),
        migrations.AlterModelTable("QueueProbe", "queue_probes"),
        migrations.RenameModel("ScheduledJob", "WorkflowRun"),
        migrations.RenameModel("RunHistory", "WorkflowRunStart"),
        migrations.RenameField("Workflow", "last_turn", "last_occurrence"),
        *(migrations.RemoveConstraint("Occurrence", name) for name in OCCURRENCE_CONSTRAINTS),
        migrations.RenameField("Occurrence", "turn", "outcome"),
        migrations.AddConstraint(
            "Occurrence",
            models.UniqueConstraint(fields=("schedule", "due_at"), name="one_occurrence_per_due_time"),
        ),
        migrations.AddConstraint(
            "Occurrence",
            models.CheckConstraint(
                name="occurrence_run_iff_execution",
                condition=Q(outcome="run", execution_id__isnull=False)
                | (~Q(outcome="run") & Q(execution_id__isnull=True)),
            ),
        ),
        migrations.AddConstraint(
            "Occurrence",
            models.CheckConstraint(
                name="occurrence_outcome_known", condition=Q(outcome__in=["run", "skipped", "missed"])
            ),
        ),
    ]
