"""What waits for a webhook is found without reading what was sent to it."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("jobs", "0002_engine")]
    operations = [
        migrations.AddIndex(
            "notice",
            models.Index(fields=["webhook", "id"], name="notices_of_webhook", condition=Q(next_at__isnull=False)),
        ),
    ]
