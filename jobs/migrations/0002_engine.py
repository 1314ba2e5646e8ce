"""The engine's functions and triggers, the sequence of jobs, and the checks that call functions."""

from pathlib import Path

from django.db import migrations, models
from django.db.models.expressions import RawSQL

SQL = Path(__file__).parent / "sql" / "0002_engine.sql"


def add_check(model: str, name: str, function: str) -> migrations.AddConstraint:
    condition = RawSQL(function, (), output_field=models.BooleanField())
    return migrations.AddConstraint(model, models.CheckConstraint(name=name, condition=condition))


class Migration(migrations.Migration):
    dependencies = [("jobs", "0001_initial")]
    operations = [
        migrations.RunSQL(
            """
            CREATE SEQUENCE job_queue_seq AS bigint CACHE 1;
            ALTER TABLE job_queue ALTER COLUMN seq SET DEFAULT nextval('job_queue_seq');
            ALTER SEQUENCE job_queue_seq OWNED BY job_queue.seq;
            -- Checked for each new run of a job, and for nothing else: its job never changes.
            ALTER TABLE job_executions ADD CONSTRAINT executions_of_job
                FOREIGN KEY (job_id) REFERENCES job_queue (id) ON DELETE CASCADE;
            -- These tables change often, and most of their rows have ended: vacuum them sooner.
            ALTER TABLE job_queue SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
            ALTER TABLE job_executions SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
            """,
            "ALTER TABLE job_queue ALTER COLUMN seq DROP DEFAULT; DROP SEQUENCE IF EXISTS job_queue_seq;",
        ),
        migrations.RunSQL(SQL.read_text(), migrations.RunSQL.noop),
        migrations.RunSQL(
            """
            -- One row for each attempt, with the columns and the states of the v1 contract.
            CREATE VIEW v1_job_executions AS
            SELECT
                e.id, e.job_id, a.number AS attempt, a.started_at, a.timeout_at, a.ended_at AS completed_at,
                nullif(a.session_id, '') AS session_id,
                CASE a.outcome
                    WHEN 'success' THEN 'completed' WHEN 'timeout' THEN 'timeout'
                    WHEN 'cancelled' THEN 'cancelled' ELSE 'failed'
                END AS status,
                nullif(a.error, '') AS error_message, e.created_at
            FROM job_attempts a JOIN job_executions e ON e.id = a.execution_id
            WHERE e.job_id IS NOT NULL
            UNION ALL
            SELECT
                e.id, e.job_id, e.attempt, e.attempt_started_at, e.timeout_at, NULL,
                nullif(e.session_id, ''), 'running', NULL, e.created_at
            FROM job_executions e WHERE e.job_id IS NOT NULL AND e.status = 'RUNNING';
            """,
            "DROP VIEW IF EXISTS v1_job_executions",
        ),
        add_check("job", "job_is_whole", "dure_job_is_whole(status, completed_at, execution_id)"),
        add_check(
            "execution",
            "execution_is_whole",
            "dure_execution_is_whole(status, locked_until, finished_at, trigger, job_id)",
        ),
    ]
