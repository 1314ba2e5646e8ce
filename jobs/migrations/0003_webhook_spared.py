"""A webhook that does not answer is left alone for a while."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0002_engine")]
    operations = [
        migrations.AddField(
            "webhook",
            "spared_until",
            models.DateTimeField(null=True, blank=True, editable=False),
        ),
    ]
