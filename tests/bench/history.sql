-- The history of tests/bench/history.py.

-- A number for a row, of a size and by a salt, which is the same in each run.
CREATE FUNCTION pg_temp.pick(n bigint, salt bigint, size bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT abs(hashint8extended(n, salt)) %% size
$$;

CREATE TEMP TABLE history AS
SELECT n, at, took, is_job, kind,
    dure_uuid7(at) AS id, dure_uuid7(at + interval '1 second') AS execution,
    -- Twenty jobs in a row are of one office; each fifth and second of five such rows is a batch.
    (SELECT id FROM office_numbers o WHERE o.number = trunc(%(offices)s * power(
        (pg_temp.pick(n / 20, 1, 100000)) / 100000.0, 3))::bigint) AS office,
    CASE WHEN is_job AND n / 20 %% 5 < 2 THEN n / 20 END AS batch,
    CASE WHEN pg_temp.pick(n, 2, 5000) = 0 THEN %(rare_task)s
        ELSE (ARRAY['etl', 'mail', 'billing', 'report', 'media', 'sync'])[1 + pg_temp.pick(n, 3, 6)]
            || '.' || (ARRAY['load', 'send', 'check', 'export', 'resize', 'import', 'merge', 'index', 'count'])[
                1 + pg_temp.pick(n, 4, 9)] END AS task,
    (ARRAY['default', 'FE', 'BE', 'QA', 'DevOps'])[1 + pg_temp.pick(n, 5, 5)] AS role,
    CASE WHEN pg_temp.pick(n, 6, 1000) < 30 THEN 'failed'
        WHEN pg_temp.pick(n, 6, 1000) < 35 THEN 'cancelled' ELSE 'done' END AS status,
    (ARRAY['ValueError', 'KeyError', 'TimeoutError', 'OSError', 'ConnectionError', 'ProgramFailed', 'TypeError',
        'PermissionError', 'AssertionError', 'RuntimeError'])[1 + pg_temp.pick(n, 7, 10)] || ': '
        || (ARRAY['the table orders has no column', 'the host did not answer', 'no such file', 'the disk is full',
        'the token has expired', 'the answer was not JSON', 'unexpected end of file', 'too many rows',
        'the branch has diverged', 'permission denied for', 'the queue is closed', 'the lock is held by',
        'duplicate key', 'the image is truncated', 'the account is closed', 'no route to', 'quota exceeded by',
        'invalid date', 'unknown currency', 'the checksum differs'])[1 + pg_temp.pick(n, 8, 20)]
        || ' ' || n || E'\nfile load.py, line ' || n %% 400 AS error,
    (ARRAY['error', 'timeout', 'permission_error', 'git_conflict', 'worker_lost', 'session_error'])[
        1 + pg_temp.pick(n, 9, 6)] AS failure,
    CASE WHEN pg_temp.pick(n, 10, 50000) = 0 THEN %(rare_worker)s
        ELSE 'worker-' || pg_temp.pick(n, 11, 12) || '@host' END AS worker,
    jsonb_build_object('customer', n, 'path', 's3://bucket/2026/' || n %% 366 || '/part-' || n || '.parquet',
        'mode', (ARRAY['full', 'delta', 'dry'])[1 + n %% 3]) AS args
FROM (
    SELECT n, pg_temp.pick(n, 12, 100) < 65 AS is_job, pg_temp.pick(n, 13, 100) AS kind,
        now() - interval '1 day' * %(days)s * (1 - n::float8 / %(count)s) - interval '2 minutes' AS at,
        interval '1 second' * (1 + pg_temp.pick(n, 14, 90)) AS took
    FROM generate_series(1, %(count)s) AS n
) AS numbers
ORDER BY n;

ANALYZE history;

INSERT INTO job_batches (id, office_id, name, created_at, ended_at)
SELECT dure_uuid7(min(at)), (array_agg(office))[1], 'close of ' || to_char(min(at), 'YYYY-MM-DD') || ' ' || batch,
       min(at), max(at)
FROM history WHERE batch IS NOT NULL GROUP BY batch ORDER BY batch;
CREATE TEMP TABLE batch_numbers AS
SELECT id, split_part(name, ' ', 4)::bigint AS batch FROM job_batches;

INSERT INTO job_queue (id, office_id, batch_id, ref, task_id, args, role, status, trigger, created_at, ready_at,
    started_at, completed_at, failure_type, error_message, execution_id)
SELECT h.id, office, b.id,
    CASE WHEN n = %(count)s / 2 THEN %(needle)s WHEN kind < 60 THEN 'load part ' || n ELSE '' END,
    task, args, role, status, CASE WHEN kind < 8 THEN 'WORKFLOW' ELSE 'JOB' END, at, at, at + interval '1 second',
    at + took, CASE status WHEN 'failed' THEN failure ELSE '' END, CASE status WHEN 'failed' THEN error ELSE '' END,
    execution
FROM history h LEFT JOIN batch_numbers b ON b.batch = h.batch
WHERE is_job OR n = %(count)s / 2 ORDER BY n;

INSERT INTO job_executions (id, task_id, role, trigger, office_id, job_id, source, args, status, dispatched_at,
    sent_at, sent_count, due_at, fence, worker, attempt, created_at, started_at, attempt_started_at, finished_at,
    failure_type, error)
SELECT execution, task, h.role,
    CASE WHEN j.id IS NOT NULL THEN j.trigger WHEN kind < 86 THEN 'SCHEDULE' WHEN kind < 95 THEN 'STEP'
        ELSE 'MANUAL' END,
    j.office_id, j.id,
    CASE WHEN j.id IS NOT NULL THEN ''
        WHEN kind < 86 THEN (SELECT id::text FROM schedule_numbers s WHERE s.number = n %% %(schedules)s)
        WHEN kind < 95 THEN (n %% %(queues)s) + 1 || ':' || gen_random_uuid() || ':forward'
        ELSE (SELECT id::text FROM owner_numbers o WHERE o.number = n %% %(owners)s) END,
    h.args, CASE h.status WHEN 'done' THEN 'SUCCESS' ELSE upper(h.status) END, at, at, 1, NULL, 1, worker,
    1 + (pg_temp.pick(n, 15, 20) = 0)::int, at, at + interval '1 second', at + interval '1 second',
    at + took, CASE h.status WHEN 'failed' THEN failure ELSE '' END,
    CASE h.status WHEN 'failed' THEN error ELSE '' END
FROM history h LEFT JOIN job_queue j ON j.id = h.id ORDER BY n;

INSERT INTO job_attempts (execution_id, number, started_at, timeout_at, ended_at, outcome, failure_type, error, worker,
    token)
SELECT e.id, number, started_at, started_at + interval '30 minutes', finished_at,
    CASE WHEN number < attempt OR status = 'FAILED' THEN 'failure' WHEN status = 'SUCCESS' THEN 'success'
        ELSE 'cancelled' END,
    failure_type, error, worker, ''
FROM job_executions e, generate_series(1, attempt) AS number;

INSERT INTO role_minutes (minute, role, done, failed, wait_p50_ms, wait_ms, run_p50_ms, run_ms, queued)
SELECT date_trunc('minute', finished_at), role, count(*) FILTER (WHERE status = 'SUCCESS'),
    count(*) FILTER (WHERE status = 'FAILED'), 1000, 1000, 40000, 90000, 3
FROM job_executions WHERE finished_at > now() - interval '7 days' AND finished_at < date_trunc('minute', now())
GROUP BY 1, 2;
INSERT INTO execution_minutes (minute, done, failed, wait_p50_ms, wait_ms, run_p50_ms, run_ms, queued)
SELECT minute, sum(done), sum(failed), 1000, 1000, 40000, 90000, 9 FROM role_minutes GROUP BY 1;

DROP TABLE history, batch_numbers, office_numbers, schedule_numbers, owner_numbers;
