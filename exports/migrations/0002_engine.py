"""An export's end is final, whoever writes; and exports are pruned by a PeriodicTask."""

from django.conf import settings
from django.db import migrations

GUARDS = """
CREATE OR REPLACE FUNCTION exports_refuse_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'export % has ended as %: it cannot become %', OLD.job_id, OLD.status, NEW.status
        USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME;
END $$;
CREATE TRIGGER export_ends_are_final BEFORE UPDATE OF status ON jobs FOR EACH ROW
    WHEN (OLD.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED') AND NEW.status IS DISTINCT FROM OLD.status)
    EXECUTE FUNCTION exports_refuse_transition();
CREATE TRIGGER export_progress_never_goes_back BEFORE UPDATE OF progress ON jobs FOR EACH ROW
    WHEN (NEW.progress < OLD.progress)
    EXECUTE FUNCTION exports_refuse_transition();
ALTER TABLE jobs SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE stream_outbox SET (autovacuum_vacuum_scale_factor = 0.02);
"""
UNDO = """
DROP TRIGGER export_ends_are_final ON jobs;
DROP TRIGGER export_progress_never_goes_back ON jobs;
DROP FUNCTION exports_refuse_transition();
"""

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
    dependencies = [
        ("exports", "0001_initial"),
        ("django_celery_beat", "0019_alter_periodictasks_options"),
    ]
    operations = [migrations.RunSQL(GUARDS, UNDO), migrations.RunPython(create, remove)]
