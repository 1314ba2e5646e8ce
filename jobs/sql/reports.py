"""Statements that only read: statistics, graphs, and what the API shows of many jobs at once.

Ids come as text: they are shown as text, and turning 200,000 of them into objects takes a second. A job's
dependencies come as one text, in order. Sub-selects in arrays keep the planner from joining tables in
an order that was right for the statistics it had before a large submission.
"""

# Live jobs by state, each from the partial index of its state.
COUNT_LIVE = """
    SELECT status, count(*) FROM job_queue
    WHERE office_id = %(office)s AND status IN ('pending', 'timeout') GROUP BY status
    UNION ALL
    SELECT 'ready', count(*) FROM job_queue WHERE office_id = %(office)s AND status = 'ready'
    UNION ALL
    SELECT 'processing', count(*) FROM job_queue WHERE office_id = %(office)s AND status = 'processing'
"""

# The jobs of some offices: those that wait, that run, and that are done and failed since a time. A job that
# was sent to a worker and that none has claimed yet waits.
COUNTS_OF_OFFICES = """
    SELECT office_id, sum(waiting)::bigint, greatest(0, sum(running))::bigint, sum(done)::bigint,
           sum(failed)::bigint
    FROM (
        SELECT office_id, count(*) AS waiting, 0 AS running, 0 AS done, 0 AS failed FROM job_queue
        WHERE office_id = ANY (%(offices)s) AND status IN ('pending', 'timeout') GROUP BY office_id
        UNION ALL
        SELECT office_id, count(*), 0, 0, 0 FROM job_queue
        WHERE office_id = ANY (%(offices)s) AND status = 'ready' GROUP BY office_id
        UNION ALL
        SELECT office_id, 0, count(*), 0, 0 FROM job_queue
        WHERE office_id = ANY (%(offices)s) AND status = 'processing' GROUP BY office_id
        UNION ALL
        SELECT office_id, 0, 0, count(*) FILTER (WHERE status = 'done'),
               count(*) FILTER (WHERE status = 'failed')
        FROM job_queue
        WHERE office_id = ANY (%(offices)s) AND status IN ('done', 'failed') AND completed_at >= %(since)s
        GROUP BY office_id
        UNION ALL
        SELECT office_id, count(*), -count(*), 0, 0 FROM job_executions
        WHERE office_id = ANY (%(offices)s) AND status = 'PENDING' AND dispatched_at IS NOT NULL
        GROUP BY office_id
    ) AS parts GROUP BY office_id
"""

# The same of all offices, without those that have ended.
COUNTS_OF_LIVE = """
    SELECT (SELECT count(*) FROM job_queue WHERE status IN ('pending', 'timeout'))
           + (SELECT count(*) FROM job_queue WHERE status = 'ready') + sent.number,
           greatest(0, (SELECT count(*) FROM job_queue WHERE status = 'processing') - sent.number)
    FROM (
        SELECT count(*) AS number FROM job_executions
        WHERE status = 'PENDING' AND dispatched_at IS NOT NULL AND office_id IS NOT NULL
    ) AS sent
"""

# Ended jobs up to a number; the order keeps the planner on the index jobs_ended.
COUNT_ENDED = """
    SELECT s.status, (
        SELECT count(*) FROM (
            SELECT 1 FROM job_queue q
            WHERE q.office_id = %(office)s AND q.status = s.status AND q.completed_at IS NOT NULL
            ORDER BY q.completed_at DESC LIMIT %(most)s
        ) AS counted
    ) FROM unnest(%(ended)s) AS s (status)
"""

# All ended jobs.
COUNT_ALL_ENDED = """
    SELECT status, count(*) FROM job_queue
    WHERE office_id = %(office)s AND status = ANY (%(ended)s) AND completed_at IS NOT NULL GROUP BY status
"""
# For the statement above: the planner prefers to read the whole table, which takes three times as long.
BY_INDEX_ONLY = "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off"

# The durations of the last done jobs, from their first start to their end.
AVERAGE_TIME = """
    SELECT coalesce(avg(extract(epoch FROM completed_at - started_at)) * 1000, 0)::float FROM (
        SELECT started_at, completed_at FROM job_queue
        WHERE office_id = %(office)s AND status = 'done' AND completed_at IS NOT NULL
        ORDER BY completed_at DESC LIMIT %(recent)s
    ) AS recent
"""

# The duration of a run of each Task, from the same jobs: of the last attempt only, without waits.
RUN_TIMES = """
    SELECT task_id, avg(extract(epoch FROM finished_at - attempt_started_at))::float FROM (
        SELECT execution_id FROM job_queue
        WHERE office_id = %(office)s AND status = 'done' AND completed_at IS NOT NULL
        ORDER BY completed_at DESC LIMIT %(recent)s
    ) AS recent JOIN job_executions e ON e.id = recent.execution_id
    WHERE attempt_started_at IS NOT NULL AND finished_at IS NOT NULL GROUP BY task_id
"""

# The same for several offices, from fewer jobs of each.
RUN_TIMES_OF_OFFICES = """
    SELECT o.id, task_id, avg(extract(epoch FROM e.finished_at - e.attempt_started_at))::float
    FROM unnest(%(offices)s::uuid[]) AS o (id)
    CROSS JOIN LATERAL (
        SELECT execution_id FROM job_queue
        WHERE office_id = o.id AND status = 'done' AND completed_at IS NOT NULL
        ORDER BY completed_at DESC LIMIT %(recent)s
    ) AS recent JOIN job_executions AS e ON e.id = recent.execution_id
    WHERE e.attempt_started_at IS NOT NULL AND e.finished_at IS NOT NULL GROUP BY o.id, task_id
"""

# The newly submitted jobs that have only waited so far.
UNTOUCHED_JOBS = """
    SELECT id::text, status, created_at, ready_at FROM job_queue
    WHERE id = ANY (%(jobs)s::uuid[]) AND status IN ('pending', 'ready')
      AND execution_id IS NULL AND retry_count = 0 AND started_at IS NULL
"""

# The dependencies of some jobs.
PARENTS_OF_JOBS = """
    SELECT job_id::text, string_agg(parent_id::text, ' ' ORDER BY position) FROM job_dependencies
    WHERE job_id = ANY (%(jobs)s::uuid[]) GROUP BY job_id
"""

# The nodes of a batch's graph, and the edges into them.
NODES_OF_BATCH = """
    SELECT q.id::text, q.ref, q.task_id, q.role, q.status, coalesce(q.started_at, e.started_at),
           q.completed_at, q.failure_type, left(q.error_message, 2000),
           e.status IS DISTINCT FROM 'PENDING', coalesce(e.attempt, 0)
    FROM job_queue q LEFT JOIN job_executions e ON e.id = q.execution_id
    WHERE q.batch_id = %(batch)s ORDER BY q.seq
"""
PARENTS_OF_BATCH = """
    SELECT job_id::text, string_agg(parent_id::text, ' ' ORDER BY position) FROM job_dependencies
    WHERE job_id = ANY (ARRAY(SELECT id FROM job_queue WHERE batch_id = %(batch)s)) GROUP BY job_id
"""

# The jobs of an office that have not ended, for the forecast.
LIVE_JOBS = """
    SELECT q.id::text, q.role, q.urgent, q.priority, q.seq, q.status, q.task_id, q.on_dependency_failure,
           coalesce(q.due_at, q.retry_at), CASE WHEN e.status = 'RUNNING' THEN e.attempt_started_at END
    FROM (
        SELECT * FROM job_queue WHERE office_id = %(office)s AND status IN ('pending', 'timeout')
        UNION ALL SELECT * FROM job_queue WHERE office_id = %(office)s AND status = 'ready'
        UNION ALL SELECT * FROM job_queue WHERE office_id = %(office)s AND status = 'processing'
    ) AS q LEFT JOIN job_executions e ON e.id = q.execution_id
    LIMIT %(most)s
"""
# The dependencies of the waiting jobs of an office, ended or not.
PARENTS_OF_WAITING = """
    SELECT job_id::text, string_agg(parent_id::text, ' ') FROM job_dependencies
    WHERE job_id = ANY (
        ARRAY(SELECT id FROM job_queue WHERE office_id = %(office)s AND status IN ('pending', 'timeout'))
    ) GROUP BY job_id
"""
# The jobs among these that ended without being done.
NOT_DONE = """
    SELECT id::text FROM job_queue WHERE id = ANY (%(jobs)s::uuid[]) AND status IN ('failed', 'cancelled')
"""

# The failed and cancelled jobs with which a job would fail again: its dependencies, and theirs as far as they
# would fail too.
RETRY_FIRST = """
    WITH RECURSIVE first AS (
        SELECT id, on_dependency_failure, 0 AS depth FROM job_queue
        WHERE id = %(job)s AND status IN ('failed', 'cancelled')
        UNION
        SELECT p.id, p.on_dependency_failure, 1
        FROM first f
        JOIN job_dependencies d ON d.job_id = f.id
        JOIN job_queue p ON p.id = d.parent_id AND p.status || '' IN ('failed', 'cancelled')
        WHERE f.on_dependency_failure = 'fail'
    )
    SELECT id FROM first WHERE depth > 0
"""
