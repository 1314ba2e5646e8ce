"""Every statement that is no function, by name, with the verb that uses it and the transition it makes.

Runs that are known by their ids are looked up by them alone, hence `status || ''`: see engine.sql.
"""

# submit: the batch, if it is new. One that has ended is open again: under the lock of its office, as its end.
INSERT_BATCH = """
    INSERT INTO job_batches (id, office_id, name, input, scheduled_for, created_at)
    VALUES (%s, %s, %s, %s, %s, now())
    ON CONFLICT (id) DO NOTHING
"""
REOPEN_BATCH = "UPDATE job_batches SET ended_at = NULL WHERE id = %s AND ended_at IS NOT NULL"

# submit: see dure_insert_jobs.
INSERT_JOBS = "SELECT dure_insert_jobs(%(office)s, %(batch)s, %(jobs)s, clock_timestamp())"

# submit: COPY takes 100,000 edges in a second; one INSERT takes several.
COPY_EDGES = "COPY job_dependencies (job_id, parent_id, position) FROM STDIN"

# record_event: an event that no job causes.
RECORD_EVENT = "SELECT dure_event(%s, NULL, %s, %s, %s::jsonb, %s)"

# submit, cancel, retry, reprioritise: nothing else happens to the office's jobs meanwhile.
LOCK_OFFICE = "SELECT id FROM offices WHERE id = %s FOR NO KEY UPDATE"

# submit: was it written, although its COMMIT raised? With the message of each, if there is to be one.
FIND_SUBMITTED = """
    SELECT e.id, e.dispatch, e.role, e.task_id, 0, e.retry_count
    FROM job_queue q LEFT JOIN job_executions e
      ON e.id = q.execution_id AND e.status = 'PENDING' AND e.dispatched_at IS NOT NULL
    WHERE q.id = ANY (%s::uuid[])
"""

# start_executions: those that no job owns, and whether each is sent now. With `due_at` it is sent later. Of
# many at once, those of Tasks without a limit are not: see dure_send_unsent.
INSERT_EXECUTIONS = """
    INSERT INTO job_executions (
        id, task_id, role, trigger, source, exclusive_for, args, status, dispatch, dispatched_at, sent_at,
        sent_count, due_at, fence, token, worker, attempt, retry_count, crash_count, max_retries,
        retry_backoff, retry_base_delay_ms, timeout_ms, on_lost, created_at, scheduled_for, failure_type,
        error, session_id
    )
    SELECT s.id, s.task_id, s.role, s.trigger, s.source, s.exclusive_for, s.args, 'PENDING', 1,
           CASE WHEN s.due_at IS NULL THEN clock_timestamp() END, clock_timestamp(),
           CASE WHEN %(many)s AND s.due_at IS NULL AND s.exclusive_for = '' AND NOT EXISTS (
               SELECT 1 FROM task_limits l WHERE l.task_id = s.task_id AND l.max_starts IS NOT NULL
           ) THEN 0 ELSE 1 END, s.due_at,
           0, '', '', 0, 0, 0, s.max_retries, s.retry_backoff,
           s.retry_base_delay_ms, s.timeout_ms, s.on_lost, clock_timestamp(), s.scheduled_for, '', '', ''
    FROM jsonb_to_recordset(%(specs)s::jsonb) AS s (
        id uuid, task_id text, role text, trigger text, source text, exclusive_for text, args jsonb,
        max_retries integer,
        retry_backoff text, retry_base_delay_ms bigint, timeout_ms bigint, on_lost text,
        scheduled_for timestamptz, due_at timestamptz
    )
    RETURNING id::text, due_at IS NULL AND sent_count > 0
"""

# progress: fenced like every write of a run; zero rows mean that the caller no longer owns it.
WRITE_PROGRESS = """
    UPDATE job_executions SET progress = %(progress)s
    WHERE id = %(execution)s AND fence = %(fence)s AND status || '' = 'RUNNING'
      AND locked_until > clock_timestamp()
"""
WRITE_SESSION = """
    UPDATE job_executions SET session_id = %(session)s
    WHERE id = %(execution)s AND fence = %(fence)s AND status || '' = 'RUNNING'
      AND locked_until > clock_timestamp()
"""

# run_data: the dependencies of a run's job.
DEPENDENCIES_OF_RUN = """
    SELECT p.id, p.ref, p.status
    FROM job_executions e
    JOIN job_dependencies d ON d.job_id = e.job_id
    JOIN job_queue p ON p.id = d.parent_id
    WHERE e.id = %s ORDER BY d.position
"""
RESULT_OF_JOB = """
    SELECT e.result FROM job_queue q JOIN job_executions e ON e.id = q.execution_id WHERE q.id = %s
"""
# run_data: the input of the batch, and the due time of the batch or of the run itself.
OCCASION_OF_RUN = """
    SELECT b.input, coalesce(e.scheduled_for, b.scheduled_for)
    FROM job_executions e
    LEFT JOIN job_queue q ON q.id = e.job_id
    LEFT JOIN job_batches b ON b.id = q.batch_id
    WHERE e.id = %s
"""

# submit_from_run: no other verb touches the office's jobs meanwhile, and no other worker can claim the run.
LOCK_OFFICE_OF_RUN = """
    SELECT o.id FROM job_executions e JOIN offices o ON o.id = e.office_id
    WHERE e.id = %s FOR NO KEY UPDATE OF o
"""
# submit_from_run: the run's job, and what this call has submitted before; no row: not the owner any more.
SUBMITTER = """
    SELECT q.id, q.batch_id, q.trigger, q.submissions -> %(key)s
    FROM job_executions e JOIN job_queue q ON q.id = e.job_id
    WHERE e.id = %(execution)s AND e.fence = %(fence)s AND e.status || '' = 'RUNNING'
"""
RECORD_SUBMISSION = """
    UPDATE job_queue
    SET submissions = coalesce(submissions, '{}') || jsonb_build_object(%(key)s::text, %(ids)s::jsonb)
    WHERE id = %(job)s
"""

# is_cancelled: no row means that another worker owns the run by now, or that it has ended.
IS_CANCELLED = """
    SELECT cancel_requested_at IS NOT NULL FROM job_executions
    WHERE id = %(execution)s AND fence = %(fence)s AND status || '' = 'RUNNING'
"""

# A message that may not claim: whether its run was cancelled, or it is a duplicate.
HAS_BEEN_CANCELLED = "SELECT 1 FROM job_executions WHERE id = %s AND status || '' = 'CANCELLED'"

# perform_atomic: a body may compute for longer than other transactions may stay idle.
ALLOW_IDLE = "SET LOCAL idle_in_transaction_session_timeout = 0"

# run_of_message: what a pool process owned that its parent saw die, or killed.
RUN_OF_MESSAGE = """
    SELECT id::text, fence, trigger, attempt, job_id FROM job_executions
    WHERE status = 'RUNNING' AND worker = %s AND token LIKE %s
"""

# give_back: RUNNING → PENDING, as it was before its claim, and sent again. Only for what no office owns: the
# start of its attempt is no event.
GIVE_BACK = """
    UPDATE job_executions
    SET status = 'PENDING', attempt = attempt - 1, locked_until = NULL,
        started_at = CASE WHEN attempt > 1 THEN started_at END,
        dispatch = dispatch + 1, dispatched_at = clock_timestamp(), sent_at = clock_timestamp(),
        sent_count = 1
    WHERE id = %s AND fence = %s AND status || '' = 'RUNNING' AND cancel_requested_at IS NULL
      AND job_id IS NULL
"""

# follow_runs: all that a worker runs now. A token begins with the id of the message.
RUNS_OF_WORKER = """
    SELECT token, id::text, dispatch, job_id, attempt FROM job_executions
    WHERE status = 'RUNNING' AND worker = %s
"""

# rescue: runs whose lease ran out. One statement, so now() is the clock.
EXPIRED_LEASES = """
    SELECT id, fence, worker, trigger FROM job_executions
    WHERE status = 'RUNNING' AND locked_until < now() ORDER BY locked_until LIMIT %s
"""

# republish: PENDING, sent and not claimed; each time after twice as long. Many may be sent again at a time,
# and a run that was lost must not wait behind them.
REPUBLISH = """
    WITH stale AS (
        SELECT id FROM job_executions
        WHERE status = 'PENDING' AND dispatched_at IS NOT NULL
          AND (%(all)s OR sent_at < clock_timestamp() - %(after)s * interval '1 second' * CASE
                   -- A run whose worker died starts again within its lease and 10 s, lost messages or not.
                   WHEN crash_count > 0 THEN least(sent_count, 4) / 4.0
                   ELSE 2 ^ least(sent_count - 1, 5)
               END)
        ORDER BY sent_at LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE job_executions e SET sent_at = clock_timestamp(), sent_count = e.sent_count + 1
    FROM stale WHERE e.id = stale.id
    RETURNING e.id, e.dispatch, e.role, e.task_id,
              CASE
                  WHEN e.crash_count > 0 OR (SELECT urgent FROM job_queue WHERE id = e.job_id) THEN 0
                  ELSE %(level)s
              END, e.retry_count
"""

# mark_unsent: messages that the broker did not accept are due for the next republish.
# What another transaction writes now is left to its next republish: waiting here could be a deadlock.
MARK_UNSENT = """
    WITH unsent AS (
        SELECT e.id FROM unnest(%s::uuid[], %s::integer[]) AS s (execution, dispatch)
        JOIN job_executions e ON e.id = s.execution AND e.dispatch = s.dispatch AND e.status = 'PENDING'
        FOR NO KEY UPDATE OF e SKIP LOCKED
    )
    UPDATE job_executions e SET sent_at = to_timestamp(0), sent_count = 0
    FROM unsent WHERE e.id = unsent.id
"""

# send_due: offices with a job that has become due.
DUE_OFFICES = """
    SELECT DISTINCT office_id FROM (
        SELECT office_id FROM job_queue
        WHERE status IN ('pending', 'timeout') AND due_at <= coalesce(%(now)s, now())
        ORDER BY due_at LIMIT %(limit)s
    ) AS due
"""

# send_due: the retries of Executions that no job owns.
SEND_DUE_EXECUTIONS = """
    WITH due AS (
        SELECT id FROM job_executions
        WHERE status = 'PENDING' AND job_id IS NULL AND due_at <= coalesce(%(now)s, now())
          AND role NOT IN (SELECT role FROM paused_roles)
        ORDER BY due_at LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE job_executions e
    SET dispatch = e.dispatch + 1, dispatched_at = clock_timestamp(), sent_at = clock_timestamp(),
        sent_count = 1, due_at = NULL
    FROM due WHERE e.id = due.id
    RETURNING e.id, e.dispatch, e.role, e.task_id, 0, e.retry_count
"""

# send_due: offices with held jobs of a Task whose rate limit allows further starts, those that have waited
# longest first, and only if they have room for them.
OFFICES_WITH_HELD = """
    SELECT DISTINCT f.id FROM task_limits l CROSS JOIN LATERAL (
        SELECT o.id FROM offices o CROSS JOIN LATERAL (
            SELECT coalesce(sum(n), 0) AS used, coalesce(jsonb_object_agg(role, n), '{}') AS by_role,
                   coalesce(sum(of_task), 0) AS of_task
            FROM (
                SELECT role, count(*) AS n, count(*) FILTER (WHERE task_id = l.task_id) AS of_task
                FROM job_queue WHERE office_id = o.id AND status = 'processing' GROUP BY role
            ) AS by_role
        ) AS p
        CROSS JOIN LATERAL (
            SELECT q.seq FROM job_queue q
            WHERE q.office_id = o.id AND q.task_id = l.task_id AND q.status = 'ready' AND q.held
              AND q.role = ANY (dure_open_roles(o, p.by_role, now()))
            ORDER BY q.urgent DESC, q.priority, q.seq LIMIT 1
        ) AS h
        WHERE o.holds AND NOT o.paused AND p.used < o.max_concurrent_jobs
          AND (NOT l.exclusive OR p.of_task = 0)
        ORDER BY h.seq
        LIMIT dure_startable(l.task_id, NULL, %(most)s, coalesce(%(now)s, clock_timestamp()))
    ) AS f
    WHERE l.max_starts IS NOT NULL
"""

# advance_stuck_offices: those with a waiting job that may be free, or a ready one that could be sent.
STUCK_OFFICES = """
    SELECT o.id FROM offices o
    WHERE EXISTS (
            SELECT 1 FROM served_roles s
            JOIN job_queue q ON q.office_id = o.id AND q.role = s.role AND q.status = 'ready'
            WHERE s.until > now() AND s.role NOT IN (SELECT role FROM paused_roles)
        )
       OR EXISTS (
           SELECT 1 FROM job_queue q WHERE q.office_id = o.id AND q.status IN ('pending', 'timeout')
             AND q.due_at IS NULL
       )
"""

# submit, reseed: joins whose sizes could not be stored in Redis, as a number that grows.
ADD_UNSEEDED = """
    INSERT INTO engine_counters (name, value) VALUES ('unseeded', 1)
    ON CONFLICT (name) DO UPDATE SET value = engine_counters.value + 1
"""
UNSEEDED = "SELECT value FROM engine_counters WHERE name = 'unseeded'"
# Only if there are no more by now.
DELETE_UNSEEDED = "DELETE FROM engine_counters WHERE name = 'unseeded' AND value = %s"

# reseed: the joins that wait, and the parts that have come in already.
WAITING_JOINS = """
    SELECT id, dependency_count FROM job_queue WHERE status IN ('pending', 'timeout') AND dependency_count > 1
"""
ENDED_PARTS = """
    SELECT c.id, p.id, d.position, c.role, c.task_id, CASE WHEN c.urgent THEN 0 ELSE 3 END
    FROM job_queue c
    JOIN job_dependencies d ON d.job_id = c.id
    JOIN job_queue p ON p.id = d.parent_id
    WHERE c.status IN ('pending', 'timeout') AND c.dependency_count > 1
      AND (p.status = 'done' OR (c.on_dependency_failure = 'run' AND p.status IN ('failed', 'cancelled')))
"""

# cancel_execution: PENDING → CANCELLED; a RUNNING one receives a stop request. The last column says whether
# it was an exclusive run that had been sent: others may wait for its end.
CANCEL_EXECUTION = """
    UPDATE job_executions
    SET cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()),
        status = CASE WHEN status = 'PENDING' THEN 'CANCELLED' ELSE status END,
        finished_at = CASE WHEN status = 'PENDING' THEN clock_timestamp() END,
        failure_type = CASE WHEN status = 'PENDING' THEN 'cancelled' ELSE failure_type END,
        due_at = NULL
    WHERE id = %s AND job_id IS NULL AND status IN ('PENDING', 'RUNNING')
    RETURNING status, trigger, source,
              status = 'CANCELLED' AND exclusive_for <> '' AND dispatched_at IS NOT NULL
"""
WAKE_EXCLUSIVE = "SELECT dure_wake_exclusive(e, clock_timestamp()) FROM job_executions e WHERE e.id = %s"

# reprioritise: of what has not ended; the order of ready jobs follows at once.
SET_PRIORITY = """
    WITH changed AS (
        UPDATE job_queue
        SET priority = CASE WHEN %(delta)s::bigint IS NULL THEN coalesce(%(priority)s, priority)
                            ELSE greatest(-2147483648, least(2147483647, priority::bigint + %(delta)s)) END,
            urgent = coalesce(%(urgent)s, urgent)
        WHERE id = ANY (%(jobs)s::uuid[]) AND office_id = %(office)s
          AND status IN ('pending', 'timeout', 'ready', 'processing')
        RETURNING id, batch_id, seq, priority, urgent
    )
    INSERT INTO job_events (office_id, job_id, batch_id, type, details, at)
    SELECT %(office)s, id, batch_id, 'job_reprioritised',
           %(details)s::jsonb || jsonb_build_object('priority', priority, 'urgent', urgent), clock_timestamp()
    FROM changed ORDER BY seq
"""

# watch: until then each commit of this office is published to the sockets.
WATCH = """
    UPDATE offices SET watched_until = now() + %(seconds)s * interval '1 second'
    WHERE id = %(office)s
      AND (watched_until IS NULL OR watched_until < now() + %(seconds)s / 2 * interval '1 second')
"""

# renew: see dure_renew.
RENEW = "SELECT * FROM dure_renew(%s, %s::uuid[], %s::integer[], %s::interval, %s::interval)"

# register_worker, deregister_worker: what a worker says of itself with each renewal.
REGISTER_WORKER = """
    SELECT dure_register_worker(
        %(name)s, %(roles)s::text[], %(slots)s, %(running)s, %(draining)s, to_timestamp(%(started_at)s),
        %(lease)s * interval '1 second'
    )::text, (SELECT count(*) FROM catalogue_offers o WHERE o.worker = %(name)s)
"""
DEREGISTER_WORKER = "SELECT dure_deregister_worker(%s, %s * interval '1 second')"

# dispatch_roles: the offices with a job that waits for one of these roles.
OFFICES_WAITING_FOR = """
    SELECT o.id FROM offices o
    WHERE NOT o.paused AND EXISTS (
        SELECT 1 FROM unnest(%(roles)s::text[]) AS r (role)
        JOIN job_queue q ON q.office_id = o.id AND q.role = r.role AND q.status = 'ready'
    ) ORDER BY o.id
"""

# return_unclaimed: offices with jobs whose slots no worker uses, and others could.
UNCLAIMED_OFFICES = """
    SELECT DISTINCT e.office_id FROM job_executions e
    WHERE e.status = 'PENDING' AND e.dispatched_at IS NOT NULL AND e.job_id IS NOT NULL
      AND e.role IN (SELECT role FROM paused_roles)
    UNION
    SELECT e.office_id FROM job_executions e
    WHERE e.status = 'PENDING' AND e.dispatched_at < clock_timestamp() - %(after)s AND e.job_id IS NOT NULL
      AND (
          NOT EXISTS (SELECT 1 FROM served_roles s WHERE s.role = e.role AND s.until > now())
          OR EXISTS (
              SELECT 1 FROM served_roles s
              JOIN job_queue q ON q.office_id = e.office_id AND q.role = s.role AND q.status = 'ready'
              WHERE s.until > now() AND s.role <> e.role AND s.role NOT IN (SELECT role FROM paused_roles)
          )
      )
"""

# fail_overdue: offices with a job that has not started within its queue timeout.
OVERDUE_OFFICES = """
    SELECT DISTINCT office_id FROM (
        SELECT office_id FROM job_queue
        WHERE status IN ('ready', 'processing') AND queue_timeout_at <= coalesce(%(now)s, now())
        ORDER BY queue_timeout_at LIMIT %(limit)s
    ) AS overdue
"""

# pause_queue: no row if it is paused already.
PAUSE_ROLE = """
    INSERT INTO paused_roles (role, by, reason, since)
    VALUES (%(role)s, %(by)s, %(reason)s, clock_timestamp())
    ON CONFLICT DO NOTHING
"""
RESUME_ROLE = "DELETE FROM paused_roles WHERE role = %s"

# finish_timed_out: the policy of a run whose owner was killed.
RETRY_POLICY = """
    SELECT task_id, retry_backoff, retry_base_delay_ms, retry_count FROM job_executions
    WHERE id = %s AND fence = %s
"""

# counters.add: events that are rare enough to be counted in a row.
ADD_TO_COUNTER = """
    INSERT INTO engine_counters (name, value) VALUES (%s, %s)
    ON CONFLICT (name) DO UPDATE SET value = engine_counters.value + EXCLUDED.value
"""
