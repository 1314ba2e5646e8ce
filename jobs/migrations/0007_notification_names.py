"""Plainer names of models and fields. Tables and columns keep theirs, so the database does not change."""

from django.db import migrations, models
from django.db.models.deletion import CASCADE

OPERATIONS = [
    migrations.RenameModel("Notice", "Notification"),
    migrations.RenameModel("NoticeCursor", "EventCursor"),
    migrations.AlterModelOptions(
        "notification", {"verbose_name": "notification", "verbose_name_plural": "notifications"}
    ),
    migrations.AlterModelOptions(
        "eventcursor",
        {"verbose_name": "notification cursor", "verbose_name_plural": "notification cursors"},
    ),
    migrations.AlterField(
        "notification",
        "office",
        models.ForeignKey(
            "jobs.office", on_delete=CASCADE, related_name="notifications", verbose_name="office"
        ),
    ),
    migrations.AlterField(
        "notification",
        "webhook",
        models.ForeignKey(
            "jobs.webhook", null=True, on_delete=CASCADE, related_name="notifications", verbose_name="webhook"
        ),
    ),
    migrations.RenameField("office", "hooked", "has_webhooks"),
    migrations.AlterField(
        "office",
        "has_webhooks",
        models.BooleanField(
            default=False, db_column="hooked", editable=False, verbose_name="has webhooks"
        ),
    ),
    migrations.RenameField("webhook", "spared_until", "paused_until"),
    migrations.AlterField(
        "webhook",
        "paused_until",
        models.DateTimeField(
            blank=True, db_column="spared_until", editable=False, null=True, verbose_name="paused until"
        ),
    ),
]


class Migration(migrations.Migration):
    dependencies = [("jobs", "0006_executions_of_source")]
    operations = [migrations.SeparateDatabaseAndState(state_operations=OPERATIONS)]
