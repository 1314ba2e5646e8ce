"""Every statement of exports that is not the ORM's, by name, with its purpose and its transition."""

# hear: where each job stands after the batch. QUEUED → RUNNING, any live one → its end.
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

# hear: a running job was spoken of, though nothing new was said; it has not stalled.
WRITE_HEARD = """
    UPDATE jobs SET heard_at = %s WHERE job_id = ANY (%s::bigint[]) AND status = 'RUNNING'
"""

# tell: an owner's events get ids in the order of commits, so `?after=` has no gaps. Taken after the
# locks of jobs, never before, and in ascending order.
LOCK_FEEDS = """
    SELECT pg_advisory_xact_lock(hashtext('exports'), owner)
    FROM (SELECT unnest(%s::integer[]) AS owner ORDER BY 1) AS owners
"""

# bury: a message that was delivered twice dies once. Answers the ids of the new ones.
INSERT_LETTERS = """
    INSERT INTO dead_letters (source_stream, source_id, fields, whole, reason, failed_at, state)
    SELECT l.source_stream, l.source_id, l.fields, l.whole, l.reason, %(now)s, 'open'
    FROM jsonb_to_recordset(%(letters)s::jsonb) AS l (
        source_stream text, source_id text, fields jsonb, whole boolean, reason text
    )
    ON CONFLICT (source_stream, source_id) DO NOTHING
    RETURNING source_stream, source_id
"""

# relay: the oldest messages that nobody is sending. Published outside of the transaction.
TAKE_OUTBOX = """
    WITH next AS (
        SELECT id FROM stream_outbox WHERE taken_until IS NULL OR taken_until < clock_timestamp()
        ORDER BY id LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE stream_outbox o SET taken_until = clock_timestamp() + interval '10 seconds'
    FROM next WHERE o.id = next.id
    RETURNING o.id, o.token, o.stream, o.fields
"""

# relay: Redis was away; the next pass may have them at once.
GIVE_BACK_OUTBOX = "UPDATE stream_outbox SET taken_until = NULL WHERE id = ANY (%s::bigint[])"

# stall: RUNNING and not spoken of.
STALLED = """
    SELECT job_id FROM jobs WHERE status = 'RUNNING' AND heard_at < %s
    ORDER BY job_id LIMIT 500 FOR NO KEY UPDATE SKIP LOCKED
"""

# requeue: QUEUED, no worker of ours has it, and its request is not on its way either.
UNREQUESTED = """
    SELECT j.job_id FROM jobs j
    WHERE j.status = 'QUEUED' AND j.execution_id IS NULL
      AND NOT EXISTS (
          SELECT 1 FROM stream_outbox o
          WHERE o.stream = 'job.requests' AND o.fields ->> 'jobId' = j.job_id::text
      )
    ORDER BY j.job_id LIMIT 1000
"""

# reconcile: live, though its run ended a while ago: the result was lost on its way.
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
