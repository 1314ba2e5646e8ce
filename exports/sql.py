"""The SQL of exports: each statement has a name, its purpose and its transition.

ATTENTION: the table `jobs` here is the exports table of the stream contract (model ExportJob). It is NOT the
queue of the engine: the jobs of the app `jobs` are in the table `job_queue`.
"""

# apply_messages: the state of each job after the batch. QUEUED → RUNNING, any live one → its end.
WRITE_STATES = """
    UPDATE jobs j
    SET status = c.status, progress = c.progress, phase = c.phase, message = c.message,
        heard_at = %(now)s,
        started_at = coalesce(j.started_at, %(now)s),
        ended_at = CASE WHEN c.ended THEN %(now)s END,
        error_code = c.error_code, error_message = c.error_message,
        result_uri = c.result_uri, result_checksum = c.result_checksum, result_size = c.result_size
    FROM jsonb_to_recordset(%(changes)s::jsonb) AS c (
        job_id bigint, status text, progress integer, phase text, message text, ended boolean,
        error_code text, error_message text, result_uri text, result_checksum text, result_size bigint
    )
    WHERE j.job_id = c.job_id AND j.status IN ('QUEUED', 'RUNNING')
"""

# apply_messages: a message about a running job that changed nothing; the job has not stalled.
WRITE_HEARD_AT = """
    UPDATE jobs SET heard_at = %s WHERE job_id = ANY (%s::bigint[]) AND status = 'RUNNING'
"""

# events.store: an owner's events get ids in the order of commits, so `?after=` has no gaps. Taken after the
# locks of jobs, never before, and in ascending order.
LOCK_FEEDS = """
    SELECT pg_advisory_xact_lock(hashtext('exports'), owner)
    FROM (SELECT unnest(%s::integer[]) AS owner ORDER BY 1) AS owners
"""

# dead_letter: a message that was delivered twice is stored once. Answers the ids of the new ones.
INSERT_DEAD_LETTERS = """
    INSERT INTO dead_letters (source_stream, source_id, fields, whole, reason, failed_at, state)
    SELECT l.source_stream, l.source_id, l.fields, l.whole, l.reason, %(now)s, 'open'
    FROM jsonb_to_recordset(%(rows)s::jsonb) AS l (
        source_stream text, source_id text, fields jsonb, whole boolean, reason text
    )
    ON CONFLICT (source_stream, source_id) DO NOTHING
    RETURNING source_stream, source_id
"""

# send_once: the oldest messages that no listener is sending. They are sent outside the transaction.
TAKE_OUTBOX = """
    WITH next AS (
        SELECT id FROM stream_outbox WHERE taken_until IS NULL OR taken_until < clock_timestamp()
        ORDER BY id LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE stream_outbox o SET taken_until = clock_timestamp() + interval '10 seconds'
    FROM next WHERE o.id = next.id
    RETURNING o.id, o.token, o.stream, o.fields
"""

# send_once: Redis was down; the next pass may take them at once.
GIVE_BACK_OUTBOX = "UPDATE stream_outbox SET taken_until = NULL WHERE id = ANY (%s::bigint[])"

# fail_stalled: RUNNING without a message since then.
STALLED = """
    SELECT job_id FROM jobs WHERE status = 'RUNNING' AND job_type = %s AND heard_at < %s
    ORDER BY job_id LIMIT 500 FOR NO KEY UPDATE SKIP LOCKED
"""

# republish_requests: QUEUED, not accepted by our workers, and its request is not in the outbox.
UNREQUESTED = """
    SELECT j.job_id FROM jobs j
    WHERE j.status = 'QUEUED' AND j.execution_id IS NULL
      AND NOT EXISTS (
          SELECT 1 FROM stream_outbox o
          WHERE o.stream = 'job.requests' AND o.fields ->> 'jobId' = j.job_id::text
      )
    ORDER BY j.job_id LIMIT 1000
"""

# prune: marks results as expired; the sweep of orphan files removes their files.
EXPIRE = """
    UPDATE jobs SET expired_at = %(now)s WHERE job_id IN (
        SELECT job_id FROM jobs
        WHERE status = 'SUCCEEDED' AND expired_at IS NULL AND ended_at < %(before)s
        ORDER BY ended_at LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED
    )
"""

# prune: deletes rows whose file was certainly removed.
DELETE_EXPORTS = """
    DELETE FROM jobs WHERE job_id IN (
        SELECT job_id FROM jobs
        WHERE ended_at < %(before)s AND (status <> 'SUCCEEDED' OR expired_at < %(swept)s)
            AND NOT EXISTS (SELECT FROM export_links l WHERE l.export_id = jobs.job_id)
        ORDER BY ended_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
    )
"""

# report_missing_results: live although its run ended a while ago: the result was lost.
UNREPORTED = """
    SELECT j.job_id, e.status, e.result, e.failure_type, e.error
    FROM jobs j JOIN job_executions e ON e.id = j.execution_id
    WHERE j.status IN ('QUEUED', 'RUNNING') AND e.status IN ('SUCCESS', 'FAILED', 'CANCELLED')
      AND e.finished_at < %s
      AND NOT EXISTS (
          SELECT 1 FROM stream_outbox o
          WHERE o.stream = 'job.results' AND o.fields ->> 'jobId' = j.job_id::text
      )
    LIMIT 500
"""

# metrics: exports that have not ended, the oldest age and the longest silence, by status.
LIVE_METRICS = """
    SELECT status, count(*),
        coalesce(max(extract(epoch FROM now() - created_at)), 0)::float8,
        coalesce(max(extract(epoch FROM now() - heard_at)), 0)::float8
    FROM jobs WHERE status IN ('QUEUED', 'RUNNING') GROUP BY status
"""

# metrics: exports that ended recently by status, type and error, and the 95th percentile of their duration.
ENDED_METRICS = """
    SELECT status, job_type, error_code, count(*),
        coalesce(percentile_cont(0.95) WITHIN GROUP (
            ORDER BY extract(epoch FROM ended_at - started_at)), 0)::float8
    FROM jobs WHERE ended_at > now() - make_interval(secs => %(seconds)s)
    GROUP BY status, job_type, error_code
"""

# metrics: dead letters that wait for an operator.
OPEN_DEAD_LETTERS = """
    SELECT count(*), coalesce(extract(epoch FROM now() - min(failed_at)), 0)::float8
    FROM dead_letters WHERE state = 'open'
"""

# metrics, doctor: messages that wait for Redis or a listener, and the age of the oldest in seconds.
OUTBOX = """
    SELECT count(*), coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 FROM stream_outbox
"""
