"""Ends are for ever, whoever writes; and the tables that change most are looked after sooner."""

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


class Migration(migrations.Migration):
    dependencies = [("exports", "0001_initial")]
    operations = [migrations.RunSQL(GUARDS, UNDO)]
