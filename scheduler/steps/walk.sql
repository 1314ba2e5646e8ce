-- A walk's two statements, as functions, so that their plans are made once for each connection.


-- What a walk has to know at the job where it is: the queue's place, this job and its neighbours. For the
-- operation itself (`p_material`) also what it is given, without a lock: nobody else changes it while the
-- operation runs. For its end the queue is locked. Null: this Execution moves nothing any more.
CREATE OR REPLACE FUNCTION dure_step_read(p_queue bigint, p_execution uuid, p_material boolean) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_at uuid;
    v_number integer;
    v_walk jsonb;
BEGIN
    IF NOT p_material THEN
        PERFORM 1 FROM step_queues WHERE queue_id = p_queue AND execution_id = p_execution FOR NO KEY UPDATE;
    END IF;
    SELECT q.running_job::uuid, jsonb_build_object(
        'run', q.run, 'direction', q.operation_direction, 'at', q.running_job, 'again', q.again,
        'cancelled', q.cancel_requested_at IS NOT NULL,
        'context', CASE WHEN p_material THEN q.context END)
    INTO v_at, v_walk
    FROM step_queues q WHERE q.queue_id = p_queue AND q.execution_id = p_execution;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT s.number, CASE WHEN p_material THEN v_walk || jsonb_build_object('arguments', s.arguments) ELSE v_walk END
    INTO v_number, v_walk
    FROM steps s WHERE s.job_id = v_at;
    RETURN v_walk || jsonb_build_object('jobs', dure_steps_between(p_queue, v_number - 1, v_number + 1));
END $$;


-- Jobs of a queue as a walk knows them.
CREATE OR REPLACE FUNCTION dure_steps_between(p_queue bigint, p_low integer, p_high integer) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_agg(jsonb_build_array(
            s.job_id, s.number, s.state, s.prev_job, s.next_job, s.forward_operation, s.backward_operation,
            s.operation_library, s.expired_time)), '[]')
        FROM steps s WHERE s.queue_id = p_queue AND s.number BETWEEN p_low AND p_high);
END $$;


-- All that one transaction does to a queue, its jobs and their story. Answers whether somebody watches.
-- Null, and nothing is written: the Execution that ends (`ending`; none as a run begins) is not the queue's
-- any more, or somebody has asked the run to turn back since it was read (`cancelled`).
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
