"""The engine's functions and triggers, the order of jobs, and edges that are checked by submission only."""

from django.db import migrations

from jobs.sql.call import ENGINE


class Migration(migrations.Migration):
    dependencies = [("jobs", "0001_initial")]
    operations = [
        migrations.RunSQL(
            """
            CREATE SEQUENCE job_queue_seq AS bigint CACHE 1;
            ALTER TABLE job_queue ALTER COLUMN seq SET DEFAULT nextval('job_queue_seq');
            ALTER SEQUENCE job_queue_seq OWNED BY job_queue.seq;
            -- Rows that change often and whose ended kind piles up: look for the dead ones sooner.
            ALTER TABLE job_queue SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
            ALTER TABLE job_executions SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
            """,
            "ALTER TABLE job_queue ALTER COLUMN seq DROP DEFAULT; DROP SEQUENCE IF EXISTS job_queue_seq;",
        ),
        migrations.RunSQL(ENGINE.read_text(), migrations.RunSQL.noop),
    ]
