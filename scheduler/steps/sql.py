"""The SQL of step queues that the ORM cannot express, with the purpose of each statement."""

from pathlib import Path

# The statements of a running queue, as database functions.
FUNCTIONS = Path(__file__).with_name("steps.sql")

# run, resume: resets jobs to their state before the first run, from job `first` on. A resumed run keeps a
# failed rollback on record until the job runs again.
RESET_STEPS = """
    UPDATE steps SET state = CASE WHEN operation_library = %(uninit)s THEN %(nolib)s ELSE %(notyet)s END,
                     job_return = to_jsonb(%(uninit)s::text)
    WHERE queue_id = %(queue)s AND number >= %(first)s AND state NOT LIKE %(except)s
      AND (state NOT IN (%(nolib)s, %(notyet)s) OR job_return <> to_jsonb(%(uninit)s::text)
           OR (state = %(nolib)s) <> (operation_library = %(uninit)s))
"""

# resume: the jobs before job `first` have succeeded, and were not rolled back.
KEEP_STEPS = """
    UPDATE steps SET state = %(success)s,
                     job_return = job_return || jsonb_build_object('backward', %(uninit)s::text)
    WHERE queue_id = %(queue)s AND number < %(first)s
"""

# The end of a run, with the return message.
ADD_FINISHED_EVENT = """
    INSERT INTO step_events (queue_id, run, type, details, at)
    SELECT queue_id, run, %(type)s, jsonb_build_object(
        'operation_direction', operation_direction, 'queue_return', queue_return), clock_timestamp()
    FROM step_queues WHERE queue_id = %(queue)s
    RETURNING id
"""

# move_job, remove_job: numbers and links the jobs of a queue in this order.
LINK_STEPS = """
    WITH linked AS (
        SELECT job_id, number, lag(job_id) OVER w AS before, lead(job_id) OVER w AS after
        FROM unnest(%(jobs)s::uuid[]) WITH ORDINALITY AS j (job_id, number) WINDOW w AS (ORDER BY number)
    )
    UPDATE steps s SET number = l.number, prev_job = coalesce(l.before::text, %(head)s),
                       next_job = coalesce(l.after::text, %(tail)s)
    FROM linked l WHERE s.job_id = l.job_id
"""

# watch, wait: until `watched_until` each change of the queue is published.
WATCH = """
    UPDATE step_queues SET watched_until = clock_timestamp() + %(seconds)s * interval '1 second'
    WHERE queue_id = %(queue)s AND (
        watched_until IS NULL
        OR watched_until < clock_timestamp() + %(seconds)s / 2 * interval '1 second'
    )
"""

# retention: the copies that runs of steps.run_queue made, except those whose rollback needs a person.
DELETE_COPIES = """
    WITH old AS (
        SELECT queue_id FROM step_queues q
        WHERE started_by IS NOT NULL AND state <> 'RUNNING' AND ended_at < %(before)s
          AND NOT EXISTS (
              SELECT 1 FROM steps s WHERE s.queue_id = q.queue_id AND s.state LIKE '%%, FAILED')
        ORDER BY ended_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
    ), deleted_steps AS (
        DELETE FROM steps s USING old WHERE s.queue_id = old.queue_id
    ), deleted_events AS (
        DELETE FROM step_events e USING old WHERE e.queue_id = old.queue_id
    )
    DELETE FROM step_queues q USING old WHERE q.queue_id = old.queue_id
"""
