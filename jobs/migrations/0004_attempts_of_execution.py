"""The attempts of one run by an index: without it each look, and each batch of retention, reads all attempts."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("jobs", "0003_lighter_guards")]
    operations = [
        AddIndexConcurrently(
            "attempt", models.Index(fields=["execution", "number"], name="attempts_of_execution")
        ),
    ]
