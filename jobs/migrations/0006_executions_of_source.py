"""The runs of a source by an index in their order: a list of the newest read all of an old schedule's runs."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("jobs", "0005_names")]
    operations = [
        # Whatever a migration that died has left of it would be in the way of the next try.
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS executions_by_source", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "execution",
            models.Index(
                condition=models.Q(("source", ""), _negated=True),
                fields=["trigger", "source", "id"],
                name="executions_by_source",
            ),
        ),
        RemoveIndexConcurrently("execution", "executions_of_source"),
    ]
