"""The SQL statements of this app's verbs that the ORM cannot express, each with its purpose."""

# fire_due: inserts one row for each due time, and returns only the new ones.
INSERT_OCCURRENCES = """
    INSERT INTO schedule_occurrences (schedule_id, due_at, outcome, reason, execution_id, decided_at)
    SELECT o.schedule, o.due_at, o.outcome, o.reason, o.execution, %(now)s
    FROM jsonb_to_recordset(%(occurrences)s::jsonb) AS o (
        schedule uuid, due_at timestamptz, outcome text, reason text, execution uuid
    )
    ON CONFLICT (schedule_id, due_at) DO NOTHING
    RETURNING execution_id
"""

# fire_due: updates each schedule; the caller holds the locks of the rows.
ADVANCE_SCHEDULES = """
    UPDATE schedules s
    SET next_run_at = a.next_run_at,
        last_run_at = coalesce(a.last_run_at, s.last_run_at),
        last_execution_id = coalesce(a.execution, s.last_execution_id),
        consecutive_missed = s.consecutive_missed
            + CASE WHEN s.notify_after_missed IS NULL THEN 0 ELSE a.missed END
    FROM jsonb_to_recordset(%(schedules)s::jsonb) AS a (
        id uuid, next_run_at timestamptz, last_run_at timestamptz, execution uuid, missed integer
    )
    WHERE s.id = a.id
"""

# failing: those that begin to notify; none that does already.
MARK_FAILING = """
    UPDATE schedules SET failing_since = coalesce(%(now)s::timestamptz, clock_timestamp())
    WHERE id = ANY (%(schedules)s) AND enabled AND failing_since IS NULL
      AND (consecutive_failures >= notify_after_failures OR consecutive_missed >= notify_after_missed)
    RETURNING id, name, task_id, owner_id, notify_office_id, consecutive_failures, consecutive_missed,
              failing_since
"""
# finish: whether RESET_FAILURES has something to do with a success.
HAS_FAILURES = """
    EXISTS (
        SELECT 1 FROM schedules
        WHERE id = %s AND (consecutive_failures > 0 OR consecutive_missed > 0 OR failing_since IS NOT NULL)
    )
"""
# failing: a run of a schedule succeeded. The last column is empty unless it notified before.
RESET_FAILURES = """
    WITH before AS (
        SELECT * FROM schedules
        WHERE id = %(schedule)s
          AND (consecutive_failures > 0 OR consecutive_missed > 0 OR failing_since IS NOT NULL)
        FOR NO KEY UPDATE
    )
    UPDATE schedules s SET consecutive_failures = 0, consecutive_missed = 0, failing_since = NULL
    FROM before b WHERE s.id = b.id
    RETURNING b.id, b.name, b.task_id, b.owner_id, b.notify_office_id, b.consecutive_failures,
              b.consecutive_missed, CASE WHEN b.failing_since IS NOT NULL THEN clock_timestamp() END
"""

# leader: the one row goes to the first beat that asks once the lease of the last one has ended.
LEAD = """
    INSERT INTO beat_leader AS l (name, holder, since, leads_until)
    VALUES ('periodic tasks', %(holder)s, clock_timestamp(),
            clock_timestamp() + %(seconds)s * interval '1 second')
    ON CONFLICT (name) DO UPDATE
    SET holder = excluded.holder, leads_until = excluded.leads_until,
        since = CASE WHEN l.holder = excluded.holder THEN l.since ELSE excluded.since END
    WHERE l.holder = excluded.holder OR l.leads_until < clock_timestamp()
"""

# beat: the current time, the next due time, until which it may sleep, and whether a run has no message yet.
NEXT_DUE = """
    SELECT clock_timestamp(), least(
        (SELECT min(next_run_at) FROM schedules WHERE next_run_at IS NOT NULL),
        (SELECT min(scheduled_time) FROM scheduled_jobs WHERE status = 'pending')
    ), EXISTS (
        SELECT 1 FROM job_executions
        WHERE status = 'PENDING' AND dispatched_at IS NOT NULL AND sent_count = 0 AND job_id IS NULL
    )
"""

# exclusion: locks pairs of owner and Task, always in the same order.
LOCK_OWNED_TASKS = """
    SELECT pg_advisory_xact_lock(key) FROM (
        SELECT DISTINCT hashtextextended('dure.exclusive:' || owner || ':' || task, 0) AS key
        FROM unnest(%(owners)s::text[], %(tasks)s::text[]) AS pair (owner, task)
        ORDER BY key
    ) AS keys
"""
# exclusion: the same for those that nobody else holds, without waiting.
TRY_LOCK_OWNED_TASKS = """
    SELECT owner, task,
           pg_try_advisory_xact_lock(hashtextextended('dure.exclusive:' || owner || ':' || task, 0))
    FROM (SELECT DISTINCT * FROM unnest(%(owners)s::text[], %(tasks)s::text[]) AS pair (owner, task)) AS pairs
"""
# exclusion: the live runs of these owners and Tasks, by hand or by a schedule that excludes other runs. All
# runs of an exclusive Task do.
LIVE_RUNS_OF_OWNERS = """
    SELECT owner, task_id, id, schedule FROM (
        SELECT e.id, e.task_id, s.id AS schedule,
               CASE e.trigger WHEN 'MANUAL' THEN e.source
                              ELSE coalesce(s.owner_id::text, s.id::text) END AS owner
        FROM job_executions e
        LEFT JOIN schedules s ON s.id = CASE WHEN e.trigger = 'SCHEDULE' THEN e.source::uuid END
        WHERE e.status IN ('PENDING', 'RUNNING') AND e.job_id IS NULL AND e.task_id = ANY (%(tasks)s)
          AND e.trigger IN ('MANUAL', 'SCHEDULE')
          AND (s.id IS NULL OR s.overlap = 'skip' OR e.exclusive_for <> '')
    ) AS live
    WHERE (owner, task_id) IN (SELECT * FROM unnest(%(owners)s::text[], %(tasks)s::text[]))
    ORDER BY id
"""

# settle_runs: running runs that cannot progress, because each step has ended or waits for a failed one.
# A pending step that waits for nothing, or for a time, will progress.
SETTLED_RUNS = """
    SELECT r.id FROM scheduled_jobs r JOIN workflows w ON w.id = r.workflow_id AND w.deleted_at IS NULL
    WHERE r.status = 'running' AND r.updated_at <= %(before)s AND (%(run)s::uuid IS NULL OR r.id = %(run)s)
      AND NOT EXISTS (
          SELECT 1 FROM job_queue j
          WHERE j.batch_id = r.batch_id AND j.status IN ('ready', 'processing', 'timeout')
      )
      AND NOT EXISTS (
          SELECT 1 FROM job_queue j
          WHERE j.batch_id = r.batch_id AND j.status = 'pending'
            AND (j.due_at IS NOT NULL OR dure_is_free(j.id, j.on_dependency_failure))
      )
"""
# settle_runs: appended to the statement of one run, to settle it once.
LOCK_RUN = " FOR NO KEY UPDATE OF r SKIP LOCKED"

# settle_retried_runs: failed and cancelled runs whose batch ended after the run, because a user retried their
# steps as single jobs.
RETRIED_RUNS = """
    SELECT r.id FROM scheduled_jobs r JOIN job_batches b ON b.id = r.batch_id
    JOIN workflows w ON w.id = r.workflow_id AND w.deleted_at IS NULL
    WHERE r.status IN ('failed', 'cancelled') AND b.ended_at > r.ended_at + interval '5 seconds'
      AND (%(run)s::uuid IS NULL OR r.id = %(run)s)
    ORDER BY r.ended_at LIMIT 100
"""

# settle_runs: the states of a run's steps, and the first failure.
STEPS_OF_BATCH = """
    SELECT count(*), count(*) FILTER (WHERE status = 'done'), count(*) FILTER (WHERE status = 'failed'),
           count(*) FILTER (WHERE status = 'cancelled'),
           (SELECT coalesce(nullif(f.ref, ''), f.id::text) || ': ' || left(f.error_message, 2000)
            FROM job_queue f WHERE f.batch_id = %(batch)s AND f.status = 'failed'
            ORDER BY f.completed_at, f.seq LIMIT 1)
    FROM job_queue WHERE batch_id = %(batch)s
"""

# beats: a beat has looked for due work. The rows of beats that did not deregister are deleted after a day.
MARK_BEAT_SEEN = """
    WITH old AS (DELETE FROM beats WHERE seen_at < now() - interval '1 day' AND name <> %(name)s)
    INSERT INTO beats (name, seen_at) VALUES (%(name)s, clock_timestamp())
    ON CONFLICT (name) DO UPDATE SET seen_at = EXCLUDED.seen_at
"""

# queue_probes: the queues whose last probe was consumed, or is so old that it counts as lost.
START_PROBES = """
    INSERT INTO queue_probes AS p (role, sent_at)
    SELECT role, clock_timestamp() FROM unnest(%(roles)s) AS role
    ON CONFLICT (role) DO UPDATE SET sent_at = EXCLUDED.sent_at
    WHERE p.sent_at IS NULL OR p.seen_at >= p.sent_at OR p.sent_at < clock_timestamp() - %(lost)s
    RETURNING role
"""
MARK_PROBE_SEEN = "UPDATE queue_probes SET seen_at = clock_timestamp() WHERE role = %s"

# retention: each statement deletes one batch of rows that ended before `before`.
# A deleted schedule names the Executions that it started, so it stays as long as any of them.
DELETE_SCHEDULES = """
    DELETE FROM schedules WHERE id IN (
        SELECT s.id FROM schedules s
        WHERE s.deleted_at < %(before)s
          AND NOT EXISTS (SELECT 1 FROM schedule_occurrences o WHERE o.schedule_id = s.id)
          AND NOT EXISTS (
              SELECT 1 FROM job_executions e
              WHERE e.trigger = 'SCHEDULE' AND e.source = s.id::text AND e.source <> '')
        ORDER BY s.deleted_at LIMIT %(limit)s FOR UPDATE OF s SKIP LOCKED)
"""
DELETE_RUNS = """
    WITH old AS (
        SELECT id FROM scheduled_jobs WHERE ended_at < %(before)s
        ORDER BY ended_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
    ), starts AS (
        DELETE FROM workflow_run_history h USING old WHERE h.run_id = old.id
    )
    DELETE FROM scheduled_jobs r USING old WHERE r.id = old.id
"""
# Deleted workflows that nobody can restore any more, and before them their runs.
DELETE_RUNS_OF_DELETED = """
    WITH old AS (
        SELECT r.id FROM scheduled_jobs r JOIN workflows w ON w.id = r.workflow_id
        WHERE w.deleted_at < %(marked_before)s LIMIT %(limit)s FOR UPDATE OF r SKIP LOCKED
    ), starts AS (
        DELETE FROM workflow_run_history h USING old WHERE h.run_id = old.id
    )
    DELETE FROM scheduled_jobs r USING old WHERE r.id = old.id
"""
DELETE_WORKFLOWS = """
    DELETE FROM workflows WHERE id IN (
        SELECT w.id FROM workflows w
        WHERE w.deleted_at < %(marked_before)s
          AND NOT EXISTS (SELECT 1 FROM scheduled_jobs r WHERE r.workflow_id = w.id)
        ORDER BY w.deleted_at LIMIT %(limit)s FOR UPDATE OF w SKIP LOCKED)
"""
