"""SQL of the statistics, and of what the pages, the monitor, the doctor and the metrics show."""

# pages: the newest occurrences of each schedule with the states of their Executions, oldest first.
RECENT_OCCURRENCES = """
    SELECT s.id, o.due_at, o.outcome, e.status
    FROM unnest(%(schedules)s::uuid[]) AS s(id)
    CROSS JOIN LATERAL (
        SELECT due_at, outcome, execution_id FROM schedule_occurrences
        WHERE schedule_id = s.id ORDER BY due_at DESC LIMIT %(limit)s
    ) AS o
    LEFT JOIN job_executions e ON e.id = o.execution_id
    ORDER BY s.id, o.due_at
"""
# pages: the newest started runs of each workflow, oldest first.
RECENT_RUNS = """
    SELECT w.id, r.scheduled_time, r.status
    FROM unnest(%(workflows)s::uuid[]) AS w(id)
    CROSS JOIN LATERAL (
        SELECT scheduled_time, status FROM scheduled_jobs
        WHERE workflow_id = w.id AND status <> 'pending' ORDER BY scheduled_time DESC LIMIT %(limit)s
    ) AS r
    ORDER BY w.id, r.scheduled_time
"""

# rollup_minutes: counts the Executions that ended in each past minute, all of them and those of each role.
# The margin of ten seconds is for ends that commit after their timestamp.
_COUNTS = """
    count(*) FILTER (WHERE status = 'SUCCESS'), count(*) FILTER (WHERE status = 'FAILED'),
    greatest(0, percentile_cont(0.5) WITHIN GROUP (ORDER BY wait)),
    greatest(0, percentile_cont(0.95) WITHIN GROUP (ORDER BY wait)),
    greatest(0, percentile_cont(0.5) WITHIN GROUP (ORDER BY run)),
    greatest(0, percentile_cont(0.95) WITHIN GROUP (ORDER BY run))
"""
ROLL_UP_MINUTES = f"""
    WITH ended AS (
        SELECT date_trunc('minute', finished_at) AS minute, role, status,
               extract(epoch FROM started_at - coalesce(scheduled_for, created_at)) * 1000 AS wait,
               extract(epoch FROM finished_at - attempt_started_at) * 1000 AS run
        FROM job_executions
        WHERE finished_at >= greatest(
                  coalesce((SELECT max(minute) + interval '1 minute' FROM execution_minutes), '-infinity'),
                  date_trunc('minute', %(now)s::timestamptz) - interval '1 day')
          AND finished_at < date_trunc('minute', %(now)s::timestamptz - interval '10 seconds')
    ), of_roles AS (
        INSERT INTO role_minutes (minute, role, done, failed, wait_p50_ms, wait_ms, run_p50_ms, run_ms)
        SELECT minute, role, {_COUNTS} FROM ended GROUP BY minute, role
        ON CONFLICT (role, minute) DO NOTHING
    )
    INSERT INTO execution_minutes (minute, done, failed, wait_p50_ms, wait_ms, run_p50_ms, run_ms)
    SELECT minute, {_COUNTS} FROM ended GROUP BY minute
    ON CONFLICT (minute) DO NOTHING
"""  # noqa: S608 (no value of a user is part of it)

# rollup_minutes: the length of all queues and of each, with the newest minute that is counted.
SAMPLE_QUEUES = """
    WITH newest (minute) AS (
        SELECT date_trunc('minute', %(now)s::timestamptz - interval '10 seconds') - interval '1 minute'
    ), queues AS (
        SELECT role, count(*) AS queued FROM (
            SELECT role FROM job_queue WHERE status = 'ready'
            UNION ALL
            SELECT role FROM job_executions WHERE status = 'PENDING' AND dispatched_at IS NOT NULL
        ) AS live GROUP BY role
    ), of_roles AS (
        INSERT INTO role_minutes (minute, role, done, failed, queued)
        SELECT newest.minute, role, 0, 0, queued FROM newest, queues
        ON CONFLICT (role, minute) DO UPDATE SET queued = EXCLUDED.queued
    )
    INSERT INTO execution_minutes (minute, done, failed, queued)
    SELECT newest.minute, 0, 0, (SELECT coalesce(sum(queued), 0) FROM queues) FROM newest
    ON CONFLICT (minute) DO UPDATE SET queued = EXCLUDED.queued
"""

# overview: the counted minutes in steps of time. Medians are averages, weighted by the runs of a minute.
TRENDS = """
    SELECT date_bin(%(step)s, minute, %(first)s), sum(done)::bigint, sum(failed)::bigint,
           (sum(wait_p50_ms * (done + failed)) / nullif(sum(done + failed), 0))::float, max(wait_ms)::float,
           (sum(run_p50_ms * (done + failed)) / nullif(sum(done + failed), 0))::float, max(run_ms)::float,
           max(queued)
    FROM execution_minutes WHERE minute >= %(first)s GROUP BY 1
"""
# queue page: the same of one role.
TRENDS_OF_ROLE = """
    SELECT date_bin(%(step)s, a.minute, %(first)s),
           coalesce(sum(r.done), 0)::bigint, coalesce(sum(r.failed), 0)::bigint,
           (sum(r.wait_p50_ms * (r.done + r.failed)) / nullif(sum(r.done + r.failed), 0))::float,
           max(r.wait_ms)::float,
           (sum(r.run_p50_ms * (r.done + r.failed)) / nullif(sum(r.done + r.failed), 0))::float,
           max(r.run_ms)::float,
           max(CASE WHEN a.queued IS NOT NULL THEN coalesce(r.queued, 0) END)
    FROM execution_minutes a LEFT JOIN role_minutes r ON r.minute = a.minute AND r.role = %(role)s
    WHERE a.minute >= %(first)s GROUP BY 1
"""
# overview: the same of the newest jobs of some offices, of all roles or of one.
TRENDS_OF_OFFICES = """
    SELECT date_bin(%(step)s, completed_at, %(first)s), count(*) FILTER (WHERE status = 'done'),
           count(*) FILTER (WHERE status = 'failed'),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY wait),
           percentile_cont(0.95) WITHIN GROUP (ORDER BY wait),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY run),
           percentile_cont(0.95) WITHIN GROUP (ORDER BY run),
           NULL::bigint
    FROM (
        SELECT newest.status, newest.completed_at,
               extract(epoch FROM e.started_at - e.created_at) * 1000 AS wait,
               extract(epoch FROM e.finished_at - e.attempt_started_at) * 1000 AS run
        FROM unnest(%(offices)s::uuid[]) AS o (id)
        CROSS JOIN unnest(ARRAY['done', 'failed']) AS s (status)
        CROSS JOIN LATERAL (
            SELECT q.status, q.completed_at, q.execution_id, q.role FROM job_queue q
            WHERE q.office_id = o.id AND q.status = s.status AND q.completed_at IS NOT NULL
              AND q.completed_at >= %(first)s
            ORDER BY q.completed_at DESC LIMIT %(most)s
        ) AS newest
        LEFT JOIN job_executions e ON e.id = newest.execution_id
        WHERE %(role)s::text IS NULL OR newest.role = %(role)s
    ) AS ends GROUP BY 1
"""

# run list: the longest time of each statement of this transaction.
LIMIT_TIME = "SELECT set_config('statement_timeout', %s, true)"
DEFAULT_TIME = "SET LOCAL statement_timeout TO DEFAULT"

# monitor: live work, by partial indexes. Ready are the jobs that wait for a slot, and the Executions that no
# worker has claimed yet.
QUEUES = """
    SELECT role, sum(ready)::bigint, sum(processing)::bigint, extract(epoch FROM now() - min(since))::float
    FROM (
        SELECT role, count(*) AS ready, 0 AS processing, min(ready_at) AS since
        FROM job_queue WHERE status = 'ready' GROUP BY role
        UNION ALL
        SELECT role, count(*), 0, min(dispatched_at)
        FROM job_executions WHERE status = 'PENDING' AND dispatched_at IS NOT NULL GROUP BY role
        UNION ALL
        SELECT role, 0, count(*), NULL FROM job_executions WHERE status = 'RUNNING' GROUP BY role
    ) AS parts GROUP BY role
"""
# queue page of staff: the work of a role that waits, as above, by office.
WAITING_OFFICES = """
    SELECT waiting.office_id, o.name, sum(number)::bigint,
           greatest(0, extract(epoch FROM now() - min(since)))::float
    FROM (
        SELECT office_id, count(*) AS number, min(ready_at) AS since
        FROM job_queue WHERE status = 'ready' AND role = %(role)s GROUP BY office_id
        UNION ALL
        SELECT office_id, count(*), min(dispatched_at) FROM job_executions
        WHERE status = 'PENDING' AND dispatched_at IS NOT NULL AND role = %(role)s GROUP BY office_id
    ) AS waiting LEFT JOIN offices o ON o.id = waiting.office_id
    GROUP BY 1, 2 ORDER BY 3 DESC, 4 DESC LIMIT %(limit)s
"""
QUEUE_PROBES = """
    SELECT role, extract(epoch FROM now() - coalesce(seen_at, sent_at))::float, seen_at IS NOT NULL
    FROM queue_probes
"""

# monitor: Executions that have not ended, by partial indexes.
LIVE_EXECUTIONS = """
    SELECT (SELECT count(*) FROM job_executions WHERE status = 'PENDING' AND dispatched_at IS NOT NULL)
           + (SELECT count(*) FROM job_executions
              WHERE status = 'PENDING' AND due_at IS NOT NULL AND job_id IS NULL),
           (SELECT count(*) FROM job_executions WHERE status = 'RUNNING')
"""
# monitor: the Executions that ended within a day: the counted minutes, and the ends after the last of them.
# These are two statements, since the planner starts parallel workers for a bound that it does not know.
COUNTED_MINUTES = """
    SELECT coalesce(sum(done), 0)::bigint, coalesce(sum(failed), 0)::bigint,
           greatest(max(minute) + interval '1 minute', now() - interval '10 minutes')
    FROM execution_minutes WHERE minute >= now() - interval '1 day'
"""
ENDED_SINCE = """
    SELECT count(*) FILTER (WHERE status = 'SUCCESS'), count(*) FILTER (WHERE status = 'FAILED')
    FROM job_executions WHERE finished_at >= %(since)s
"""

# monitor: running runs of which no step has started yet.
WAITING_RUNS = """
    SELECT r.id FROM scheduled_jobs r JOIN workflows w ON w.id = r.workflow_id AND w.deleted_at IS NULL
    WHERE r.status = 'running' AND r.executed_at < %(before)s
      AND NOT EXISTS (SELECT 1 FROM job_queue j WHERE j.batch_id = r.batch_id AND j.started_at IS NOT NULL)
      AND NOT EXISTS (
          SELECT 1 FROM job_queue j JOIN job_executions e ON e.id = j.execution_id
          WHERE j.batch_id = r.batch_id AND j.status = 'processing' AND e.status = 'RUNNING')
    ORDER BY r.executed_at LIMIT %(limit)s
"""

# metrics: each statement returns the values of one collector or gauge.
SCHEDULE_FIGURES = """
    SELECT count(*) FILTER (WHERE enabled), count(*) FILTER (WHERE NOT enabled),
           coalesce(extract(epoch FROM now() - min(next_run_at)), 0)::float,
           count(*) FILTER (WHERE failing_since IS NOT NULL)
    FROM schedules WHERE deleted_at IS NULL
"""
RECENT_OCCURRENCE_COUNTS = """
    SELECT outcome, count(*), coalesce(max(extract(epoch FROM decided_at - due_at)), 0)::float
    FROM schedule_occurrences WHERE decided_at > now() - interval '5 minutes' GROUP BY outcome
"""
RUN_FIGURES = """
    SELECT count(*) FILTER (WHERE r.status = 'pending'), count(*) FILTER (WHERE r.status = 'running'),
           coalesce(extract(epoch FROM now() - min(scheduled_time)
               FILTER (WHERE r.status = 'pending')), 0)::float
    FROM scheduled_jobs r JOIN workflows w ON w.id = r.workflow_id AND w.deleted_at IS NULL
    WHERE r.status IN ('pending', 'running')
"""
EXPIRED_LEASES = """
    SELECT count(*), coalesce(extract(epoch FROM now() - min(locked_until)), 0)::float
    FROM job_executions WHERE status = 'RUNNING' AND locked_until < now()
"""
OLDEST_END = """
    SELECT extract(epoch FROM now() - min(finished_at))::float
    FROM job_executions WHERE finished_at IS NOT NULL
"""
WORKERS_BY_ROLE = """
    SELECT role, count(*) FROM workers, jsonb_array_elements_text(roles) AS role
    WHERE seen_at > now() - %(alive)s * interval '1 second' AND NOT draining GROUP BY role
"""
