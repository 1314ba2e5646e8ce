"""Every statement of step queues that the ORM cannot say, by name, with its purpose and its transition."""

STEP_COLUMNS = """
    s.job_id::text, s.number, s.state, s.prev_job, s.next_job, s.forward_operation, s.backward_operation,
    s.operation_library, s.expired_time
"""

# advance: the queue whose operation ended, locked, and the job it was at with its neighbours. No rows:
# this Execution moves nothing any more.
HERE = f"""
    WITH here AS (
        SELECT queue_id, run, operation_direction, running_job, cancel_requested_at IS NOT NULL AS cancelled,
               again, coalesce(watched_until > clock_timestamp(), false) AS watched
        FROM step_queues WHERE queue_id = %(queue)s AND execution_id = %(execution)s
        FOR NO KEY UPDATE
    )
    SELECT here.run, here.operation_direction, here.running_job, here.cancelled, here.again, here.watched,
           {STEP_COLUMNS}
    FROM here
    JOIN steps c ON c.job_id = here.running_job::uuid
    JOIN steps s ON s.queue_id = c.queue_id AND s.number BETWEEN c.number - 1 AND c.number + 1
"""  # noqa: S608 (the columns are ours)

# advance, run: jobs further along, where the next one has nothing to run.
STEPS_BETWEEN = f"""
    SELECT {STEP_COLUMNS} FROM steps s
    WHERE s.queue_id = %(queue)s AND s.number BETWEEN %(low)s AND %(high)s
"""  # noqa: S608

# run: READY → RUNNING begins with every job as it was before the first run.
RESET_STEPS = """
    UPDATE steps SET state = CASE WHEN operation_library = %(uninit)s THEN %(nolib)s ELSE %(notyet)s END,
                     job_return = to_jsonb(%(uninit)s::text)
    WHERE queue_id = %(queue)s
      AND (state NOT IN (%(nolib)s, %(notyet)s) OR job_return <> to_jsonb(%(uninit)s::text)
           OR (state = %(nolib)s) <> (operation_library = %(uninit)s))
"""
RESET_QUEUE = """
    UPDATE step_queues
    SET run = run + 1, context = '{}', queue_return = to_jsonb(%(uninit)s::text),
        operation_direction = %(forward)s,
        cancel_requested_at = NULL, started_at = clock_timestamp(), ended_at = NULL
    WHERE queue_id = %(queue)s
    RETURNING run, coalesce(watched_until > clock_timestamp(), false)
"""

# advance, run, rerun_backward: all that one transaction did to a queue, its jobs and their story.
WRITE = """
    WITH changed AS (
        UPDATE steps s
        SET state = c.state,
            job_return = CASE WHEN c.returned = '{}' THEN s.job_return ELSE
                CASE WHEN jsonb_typeof(s.job_return) = 'object' THEN s.job_return
                     ELSE jsonb_build_object('forward', %(uninit)s::text, 'backward', %(uninit)s::text) END
                || c.returned END
        FROM jsonb_to_recordset(%(steps)s::jsonb) AS c (job_id uuid, state text, returned jsonb)
        WHERE s.job_id = c.job_id
    ), told AS (
        INSERT INTO step_events (queue_id, run, type, details, at)
        SELECT %(queue)s, %(run)s, e.type, e.details, clock_timestamp()
        FROM jsonb_to_recordset(%(events)s::jsonb) AS e (place integer, type text, details jsonb)
        ORDER BY e.place
    )
    UPDATE step_queues
    SET state = %(state)s, operation_direction = %(direction)s, running_job = %(running_job)s,
        execution_id = %(execution)s, again = %(again)s, context = coalesce(%(context)s::jsonb, context),
        queue_return = CASE
            WHEN %(lines)s::jsonb = '[]' THEN queue_return
            WHEN jsonb_typeof(queue_return) = 'array' THEN queue_return || %(lines)s::jsonb
            ELSE %(lines)s::jsonb END,
        ended_at = CASE WHEN %(over)s THEN clock_timestamp() END
    WHERE queue_id = %(queue)s
"""

# An event that somebody is told of by its id.
TELL = """
    INSERT INTO step_events (queue_id, run, type, details, at)
    VALUES (%(queue)s, %(run)s, %(type)s, %(details)s, clock_timestamp()) RETURNING id
"""

# The end of a run, with the message that its caller is given.
TELL_FINISHED = """
    INSERT INTO step_events (queue_id, run, type, details, at)
    SELECT queue_id, run, %(type)s, jsonb_build_object(
        'operation_direction', operation_direction, 'queue_return', queue_return), clock_timestamp()
    FROM step_queues WHERE queue_id = %(queue)s
    RETURNING id
"""

# operate: what an operation is given. Nobody else changes it while the operation runs.
MATERIAL = """
    SELECT s.arguments::text, q.context::text, q.run
    FROM steps s JOIN step_queues q ON q.queue_id = s.queue_id
    WHERE s.job_id = %(job)s AND q.queue_id = %(queue)s
"""

# cancel: a run that walks forward shall turn back.
ASK_TO_TURN = """
    UPDATE step_queues SET cancel_requested_at = clock_timestamp()
    WHERE queue_id = %(queue)s AND state = %(running)s AND operation_direction = %(forward)s
      AND cancel_requested_at IS NULL
    RETURNING run
"""

# watch, wait: while somebody does, each change of this queue rings.
WATCH = """
    UPDATE step_queues SET watched_until = clock_timestamp() + %(seconds)s * interval '1 second'
    WHERE queue_id = %(queue)s AND (
        watched_until IS NULL
        OR watched_until < clock_timestamp() + %(seconds)s / 2 * interval '1 second'
    )
"""

# run: the story of earlier runs is kept as long as everything else that has ended.
FORGET_EVENTS = (
    "DELETE FROM step_events WHERE queue_id = %(queue)s AND at < now() - %(days)s * interval '1 day'"
)

# the metrics.
COUNTS = """
    SELECT (SELECT count(*) FROM step_queues WHERE state = %(running)s),
           (SELECT count(*) FROM steps WHERE state LIKE %(undo_failed)s)
"""
