"""Writes the demonstration's history: ended jobs with their runs, attempts and events."""

INSERT_BATCH = (
    "INSERT INTO job_batches (id, office_id, name, created_at, ended_at) VALUES (%s, %s, %s, %s, %s)"
)
INSERT_JOBS = """
    INSERT INTO job_queue (
        id, office_id, batch_id, ref, task_id, args, role, priority, urgent, status, on_dependency_failure,
        dependency_count, timeout_ms, max_retries, retry_backoff, retry_base_delay_ms, retry_count, on_lost,
        trigger, unique_key, created_at, started_at, completed_at, cancelled_at, failure_type, error_message,
        execution_id, ended_before
    )
    SELECT j.id, %(office)s, j.batch, j.ref, 'demo.sleep', j.args, j.role, 100, false, j.status, 'block',
           cardinality(j.parents), 1800000, 2, 'exponential', 60000, 0, 'retry',
           %(trigger)s, '', j.created_at, j.started_at, j.ended_at, j.cancelled_at, j.failure_type, j.error,
           j.execution, false
    FROM jsonb_to_recordset(%(jobs)s::jsonb) AS j (
        id uuid, batch uuid, ref text, args jsonb, role text, status text, parents uuid[],
        created_at timestamptz, started_at timestamptz, ended_at timestamptz, cancelled_at timestamptz,
        failure_type text, error text, execution uuid, place integer
    )
    ORDER BY j.place
"""
INSERT_EDGES = """
    INSERT INTO job_dependencies (job_id, parent_id, position)
    SELECT j.id, p.parent, p.place - 1 FROM jsonb_to_recordset(%(jobs)s::jsonb) AS j (id uuid, parents uuid[])
    CROSS JOIN LATERAL unnest(j.parents) WITH ORDINALITY AS p (parent, place)
"""
INSERT_EXECUTIONS = """
    INSERT INTO job_executions (
        id, task_id, role, trigger, office_id, job_id, source, args, status, dispatch, dispatched_at,
        sent_at, sent_count, fence, token, worker, attempt, retry_count, crash_count, max_retries,
        retry_backoff, retry_base_delay_ms, timeout_ms, on_lost, created_at, started_at,
        attempt_started_at, timeout_at, finished_at, result, failure_type, error, session_id
    )
    SELECT j.execution, 'demo.sleep', j.role, %(trigger)s, %(office)s, j.id, '', j.args, j.run, 1,
           j.started_at, j.started_at, 1, 1, '', j.worker, 1, 0, 0, 2, 'exponential',
           60000, 1800000, 'retry', j.started_at, j.started_at, j.started_at,
           j.started_at + interval '30 minutes', j.ended_at, j.result, j.failure_type, j.error, ''
    FROM jsonb_to_recordset(%(jobs)s::jsonb) AS j (
        id uuid, execution uuid, role text, args jsonb, run text, worker text, started_at timestamptz,
        ended_at timestamptz, result jsonb, failure_type text, error text
    )
    WHERE j.execution IS NOT NULL
"""
INSERT_ATTEMPTS = """
    INSERT INTO job_attempts (
        execution_id, number, started_at, timeout_at, ended_at, outcome, failure_type, error, worker, token
    )
    SELECT j.execution, 1, j.started_at, j.started_at + interval '30 minutes', j.ended_at, j.outcome,
           j.failure_type, j.error, j.worker, ''
    FROM jsonb_to_recordset(%(jobs)s::jsonb) AS j (
        execution uuid, started_at timestamptz, ended_at timestamptz, outcome text, failure_type text,
        error text, worker text
    )
    WHERE j.execution IS NOT NULL
"""
INSERT_EVENTS = """
    INSERT INTO job_events (office_id, job_id, batch_id, type, details, at)
    SELECT %(office)s, e.job, e.batch, e.type, e.details, e.at
    FROM jsonb_to_recordset(%(events)s::jsonb) AS e (
        job uuid, batch uuid, type text, details jsonb, at timestamptz
    )
    ORDER BY e.at
"""

IN_THIS_ORDER = (INSERT_JOBS, INSERT_EDGES, INSERT_EXECUTIONS, INSERT_ATTEMPTS, INSERT_EVENTS)
