-- The statements of a running step queue, as functions, so that each connection plans them once.


-- Reads what a transition needs: the queue's position, the job there and its neighbours. With `p_with_input`
-- (before the operation runs) also the context and the arguments, without a lock: nobody else changes them
-- while the operation runs. Without it (at the operation's end) the queue's row is locked. Returns null when
-- the Execution is no longer the queue's current one.
CREATE OR REPLACE FUNCTION dure_step_read(p_queue bigint, p_execution uuid, p_with_input boolean) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_job uuid;
    v_number integer;
    v_result jsonb;
BEGIN
    IF NOT p_with_input THEN
        PERFORM 1 FROM step_queues WHERE queue_id = p_queue AND execution_id = p_execution FOR NO KEY UPDATE;
    END IF;
    SELECT q.running_job::uuid, jsonb_build_object(
        'run', q.run, 'direction', q.operation_direction, 'running_job', q.running_job, 'again', q.again,
        'cancelled', q.cancel_requested_at IS NOT NULL,
        'context', CASE WHEN p_with_input THEN q.context END)
    INTO v_job, v_result
    FROM step_queues q WHERE q.queue_id = p_queue AND q.execution_id = p_execution;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT s.number,
           CASE WHEN p_with_input THEN v_result || jsonb_build_object('arguments', s.arguments) ELSE v_result END
    INTO v_number, v_result
    FROM steps s WHERE s.job_id = v_job;
    RETURN v_result || jsonb_build_object('jobs', dure_steps_between(p_queue, v_number - 1, v_number + 1));
END $$;


-- Reads the jobs of a queue from one number to another, as far as a transition needs them.
CREATE OR REPLACE FUNCTION dure_steps_between(p_queue bigint, p_low integer, p_high integer) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(jsonb_build_array(
            s.job_id, s.number, s.state, s.prev_job, s.next_job, s.forward_operation, s.backward_operation,
            s.operation_library, s.expired_time, s.undo_retries)), '[]')
        FROM steps s WHERE s.queue_id = p_queue AND s.number BETWEEN p_low AND p_high);
END $$;


-- Writes everything that one transaction changes in a queue, its jobs and its events. Returns whether the
-- queue is watched. Returns null and writes nothing when `ending` (the Execution that ended; none as a run
-- starts) is no longer the queue's current one, or when a cancel was requested after the queue was read
-- (`cancelled`).
CREATE OR REPLACE FUNCTION dure_step_write(p jsonb, p_context jsonb) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_queue bigint := (p ->> 'queue')::bigint;
    v_now timestamptz;
    v_watched boolean;
BEGIN
    SELECT coalesce(watched_until > now(), false) INTO v_watched FROM step_queues
    WHERE queue_id = v_queue AND execution_id IS NOT DISTINCT FROM (p ->> 'ending')::uuid
      AND (cancel_requested_at IS NOT NULL) = (p ->> 'cancelled')::boolean
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    v_now := clock_timestamp();

    UPDATE steps s
    SET state = c.state,
        job_return = CASE WHEN c.returned = '{}' THEN s.job_return ELSE
            CASE WHEN jsonb_typeof(s.job_return) = 'object' THEN s.job_return
                 ELSE jsonb_build_object('forward', p -> 'uninit', 'backward', p -> 'uninit') END
            || c.returned END
    FROM jsonb_to_recordset(p -> 'steps') AS c (job_id uuid, state text, returned jsonb)
    WHERE s.job_id = c.job_id;

    INSERT INTO step_events (queue_id, run, type, details, at)
    SELECT v_queue, (p ->> 'run')::integer, e.value ->> 'type', e.value -> 'details', v_now
    FROM jsonb_array_elements(p -> 'events') WITH ORDINALITY AS e ORDER BY e.ordinality;

    UPDATE step_queues
    SET state = p ->> 'state', operation_direction = p ->> 'direction', running_job = p ->> 'running_job',
        execution_id = (p ->> 'execution')::uuid, again = (p ->> 'again')::boolean,
        context = coalesce(p_context, context),
        queue_return = CASE
            WHEN p -> 'lines' = '[]' THEN queue_return
            WHEN jsonb_typeof(queue_return) = 'array' THEN queue_return || (p -> 'lines')
            ELSE p -> 'lines' END,
        ended_at = CASE WHEN (p ->> 'over')::boolean THEN v_now END
    WHERE queue_id = v_queue;
    RETURN jsonb_build_object('watched', v_watched);
END $$;
