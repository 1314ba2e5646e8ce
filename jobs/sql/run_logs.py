"""The logs of runs. Their rows are found by (execution_id, seq)."""

# Chunks of lines from the owner of a run, and from nobody else: the fence is checked in the same statement.
# The chunks from `cut_from` to `cut_to` go, as the log is longer than its limit. Chunks that were written
# before count once. A log need not wait for the disk. Without a row the caller does not own the run any more.
WRITE = """
    WITH owner AS (
        SELECT id FROM job_executions, set_config('synchronous_commit', 'off', true)
        WHERE id = %(execution)s AND fence = %(fence)s AND status || '' = 'RUNNING'
    ), written AS (
        INSERT INTO run_logs (execution_id, seq, first_seq, level, size, lines)
        SELECT owner.id, c.last, c.first, c.level, c.size, c.lines
        FROM owner, unnest(
            %(last)s::bigint[], %(first)s::bigint[], %(level)s::smallint[], %(size)s::integer[],
            %(lines)s::text[]
        ) AS c (last, first, level, size, lines)
        ON CONFLICT DO NOTHING
    ), cut AS (
        DELETE FROM run_logs l USING owner
        WHERE l.execution_id = owner.id AND l.seq BETWEEN %(cut_from)s AND %(cut_to)s
    )
    SELECT 1 FROM owner
"""

# The chunks with lines between these two, from either end.
AFTER = """
    SELECT first_seq, lines FROM run_logs
    WHERE execution_id = %(execution)s AND seq > %(low)s AND first_seq < %(high)s AND level >= %(level)s
    ORDER BY seq LIMIT %(limit)s
"""
BEFORE = """
    SELECT first_seq, lines FROM run_logs
    WHERE execution_id = %(execution)s AND seq > %(low)s AND first_seq < %(high)s AND level >= %(level)s
    ORDER BY seq DESC LIMIT %(limit)s
"""

# The oldest kept line of each of these attempts.
OLDEST = """
    SELECT a.number, oldest.first_seq
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS a (number)
    CROSS JOIN LATERAL (
        SELECT first_seq FROM run_logs
        WHERE execution_id = %(execution)s AND seq > a.number * %(lines)s AND seq < (a.number + 1) * %(lines)s
        ORDER BY seq LIMIT 1
    ) AS oldest
"""
