-- A frozen copy of jobs/sql/engine.sql
-- The engine's hot path, as functions: a job costs one call to claim it and one to finish it.
--
-- Rules that hold in all of them:
--   * Lock order is office, job, execution, and last the row of one limited Task. Everything that happens
--     to an office's jobs holds the office's row lock, so its events are written in the order in which they
--     commit, and the slots in use can be counted from live rows.
--   * The clock is the database's, read after the lock was won: now() would be as old as the wait.
--   * What has to happen after the commit comes back as JSON: see dure_effects and jobs/effects.py.
--   * Rows that are known by their ids are looked up by them. A plan that was made while the tables were
--     small would read another index, or all of the primary key, for as long as the connection lives.
--     So other conditions on them are written such that no index serves them (`status || ''`, `office_id
--     IS NOT DISTINCT FROM`), and `OFFSET 0` keeps a look-up from becoming a join.
--   * PostgreSQL plans a function's statements once for each connection. A plan from when a table was
--     empty would read all of it for as long as the connection lives, hence `SET enable_seqscan = off`;
--     `plan_cache_mode = force_generic_plan` keeps it from planning the two hottest ones anew by value.
--   * A function in SQL is planned anew in each call before PostgreSQL 18, unless it is put into its caller's
--     plan: one expression, without a subquery. All others are PL/pgSQL.
--
-- A migration installs a frozen copy of this file, from jobs/migrations/sql. After a change here run
-- `make engine-migration`. A function whose arguments or answer change gets a new name with a suffix
-- (dure_finish_v2), and the old one stays for a release: workers of both versions run during a rollout.
-- With its removal the oldest caller below becomes the version that no longer calls it.


-- The version of the engine: the number of the migration that installed it.
CREATE OR REPLACE FUNCTION dure_engine_version() RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT 2
$$;


-- The oldest version whose code this engine still serves.
CREATE OR REPLACE FUNCTION dure_engine_oldest_caller() RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT 2
$$;


-- Whether a job's dependencies let it start.
CREATE OR REPLACE FUNCTION dure_is_free(p_job uuid, p_policy text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN NOT EXISTS (
        SELECT 1 FROM job_dependencies d
        CROSS JOIN LATERAL (SELECT status FROM job_queue WHERE id = d.parent_id OFFSET 0) AS p
        WHERE d.job_id = p_job
          AND NOT (p.status = 'done' OR (p_policy = 'run' AND p.status IN ('failed', 'cancelled')))
    );
END $$;


CREATE OR REPLACE FUNCTION dure_event(
    p_office uuid, p_job uuid, p_batch uuid, p_type text, p_details jsonb, p_at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO job_events (office_id, job_id, batch_id, type, details, at)
    VALUES (p_office, p_job, p_batch, p_type, p_details, p_at);
END $$;


-- What has to follow the commit: `send` holds messages to publish, `parts` the chord parts to count;
-- `publish` names the office while its events are watched, `notify` when webhooks or mail may be due.
CREATE OR REPLACE FUNCTION dure_effects(
    o offices, p_now timestamptz, p_send jsonb, p_parts jsonb, p_notify boolean
) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'send', p_send,
        'parts', p_parts,
        'publish', CASE WHEN o.watched_until > p_now THEN o.id END,
        'notify', CASE WHEN p_notify THEN o.id END
    )
$$;


-- pending or timeout → ready, for those of these jobs that wait for nothing.
CREATE OR REPLACE FUNCTION dure_ready(p_office uuid, p_jobs uuid[], p_now timestamptz) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    v_count integer;
BEGIN
    WITH ready AS (
        UPDATE job_queue
        SET status = 'ready', ready_at = p_now, due_at = NULL, held = false,
            queue_timeout_at = p_now + queue_timeout_ms * interval '1 millisecond'
        WHERE id = ANY (p_jobs) AND office_id IS NOT DISTINCT FROM p_office
          AND status || '' IN ('pending', 'timeout') AND (due_at IS NULL OR due_at <= p_now)
          AND (dependency_count = 0 OR dure_is_free(id, on_dependency_failure))
        RETURNING id, batch_id, seq
    ), logged AS (
        INSERT INTO job_events (office_id, job_id, batch_id, type, details, at)
        SELECT p_office, id, batch_id, 'job_ready', '{}', p_now FROM ready ORDER BY seq
        RETURNING 1
    )
    SELECT count(*) INTO v_count FROM logged;
    RETURN v_count;
END $$;


-- The Execution of a job's next run. `p_claim` says which process has claimed it at once.
CREATE OR REPLACE FUNCTION dure_insert_execution(
    p_id uuid, q job_queue, p_exclusive_for text, p_claim jsonb, p_now timestamptz, OUT e job_executions
) LANGUAGE plpgsql AS $$
DECLARE
    v_claimed boolean := p_claim IS NOT NULL;
BEGIN
    INSERT INTO job_executions (
        id, task_id, role, trigger, office_id, job_id, source, args, status,
        dispatch, dispatched_at, sent_at, sent_count, fence,
        token, worker, exclusive_for,
        attempt, retry_count, crash_count, max_retries, retry_backoff, retry_base_delay_ms,
        timeout_ms, on_lost, created_at, failure_type, error, session_id, due_at,
        started_at, attempt_started_at, timeout_at, locked_until
    ) VALUES (
        p_id, q.task_id, q.role, q.trigger, q.office_id, q.id, '', q.args,
        CASE WHEN v_claimed THEN 'RUNNING' ELSE 'PENDING' END,
        1, p_now, p_now, 1, CASE WHEN v_claimed THEN dure_first_fence(p_now) ELSE 0 END,
        CASE WHEN v_claimed THEN p_claim ->> 'token' ELSE '' END,
        CASE WHEN v_claimed THEN p_claim ->> 'worker' ELSE '' END, p_exclusive_for,
        v_claimed::integer, 0, 0, q.max_retries, q.retry_backoff, q.retry_base_delay_ms,
        q.timeout_ms, q.on_lost, p_now, '', '', '', NULL,
        CASE WHEN v_claimed THEN p_now END, CASE WHEN v_claimed THEN p_now END,
        CASE WHEN v_claimed THEN p_now + q.timeout_ms * interval '1 millisecond' END,
        CASE WHEN v_claimed THEN clock_timestamp() + (p_claim ->> 'lease')::interval END
    ) RETURNING * INTO e;
END $$;


-- The level of a message: how full the office already is.
CREATE OR REPLACE FUNCTION dure_level(p_urgent boolean, p_used bigint) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_urgent OR p_used < 1 THEN 0 WHEN p_used < 3 THEN 3 WHEN p_used < 10 THEN 6 ELSE 9 END
$$;


-- The slots that an office uses, if a job of this role would start at once: one is free, a worker serves the
-- role, no limit of the Task is in the way, and no other job waits. Null otherwise.
CREATE OR REPLACE FUNCTION dure_slots_used_before(o offices, p_role text, p_task text, p_now timestamptz)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_used bigint;
    v_of_role bigint;
BEGIN
    IF o.paused
       OR NOT EXISTS (SELECT 1 FROM served_roles WHERE role = p_role AND until > p_now)
       OR EXISTS (SELECT 1 FROM paused_roles WHERE role = p_role)
       OR EXISTS (SELECT 1 FROM task_limits WHERE task_id = p_task)
       OR EXISTS (SELECT 1 FROM job_queue WHERE office_id = o.id AND status = 'ready') THEN
        RETURN NULL;
    END IF;
    SELECT count(*), count(*) FILTER (WHERE role = p_role) INTO v_used, v_of_role
    FROM job_queue WHERE office_id = o.id AND status = 'processing';
    IF v_used < o.max_concurrent_jobs
       AND v_of_role < coalesce((o.max_concurrent_by_role ->> p_role)::integer, o.max_concurrent_jobs) THEN
        RETURN v_used;
    END IF;
    RETURN NULL;
END $$;


-- ready → processing, as far as slots are free and a worker serves the role; a new Execution for each, or
-- the one that waits for its retry. Strictly in order (urgent, priority, age) within what the roles' limits
-- let through. The level is how full the office already is: the broker serves the emptier office first.
-- `p_late` are jobs whose workers have not claimed them for long: they count as if they held no slot, and
-- their roles get nothing more.
-- Jobs of a limited Task that may not start yet are `held`: the next dispatches pass them by.
-- `p_along` describes a process that can claim one of them at once: the `job` that it names, or (see
-- jobs/burst.py) one of its roles, whose level is urgent enough, unless another message of the roles has
-- waited for long. That one is `claim`, and not among `sends`.
-- Of a table that nobody has counted the planner expects few ready jobs, and would read and sort all of an
-- office's; so it has only the index that is in their order.
CREATE OR REPLACE FUNCTION dure_dispatch_and_claim(
    o offices, p_now timestamptz, p_late uuid[], p_along jsonb, OUT sends jsonb, OUT claim jsonb
) LANGUAGE plpgsql SET enable_sort = off AS $$
DECLARE
    v_late_roles text[] := '{}';
    v_used integer;
    v_by_role jsonb;
    v_level integer;
    v_claims boolean;  -- whether `claim` is this one
    v_held boolean := false;
    e job_executions;
    j record;
BEGIN
    sends := '[]';
    IF o.paused THEN
        RETURN;
    END IF;
    SELECT coalesce(sum(n), 0), coalesce(jsonb_object_agg(role, n), '{}') INTO v_used, v_by_role
    FROM (
        SELECT role, count(*) AS n FROM job_queue
        WHERE office_id = o.id AND status = 'processing' GROUP BY role
    ) AS used;
    IF cardinality(p_late) > 0 THEN
        v_used := v_used - cardinality(p_late);
        v_late_roles := ARRAY(SELECT DISTINCT role FROM job_queue WHERE id = ANY (p_late));
    END IF;
    IF v_used >= o.max_concurrent_jobs THEN
        RETURN;
    END IF;
    IF o.holds THEN
        PERFORM dure_unhold(
            o, o.max_concurrent_jobs - v_used,
            ARRAY(SELECT unnest(dure_open_roles(o, v_by_role, p_now)) EXCEPT SELECT unnest(v_late_roles)), p_now
        );
        o.holds := false;
    END IF;
    FOR j IN
        SELECT picked.*, l.exclusive, l.max_starts FROM served_roles s CROSS JOIN LATERAL (
            SELECT q AS job, q.id, q.seq, q.role, q.urgent, q.priority, q.task_id, q.execution_id, q.batch_id
            FROM job_queue q
            WHERE q.office_id = o.id AND q.role = s.role AND q.status = 'ready' AND NOT q.held
            ORDER BY q.urgent DESC, q.priority, q.seq
            LIMIT least(
                o.max_concurrent_jobs - v_used,
                greatest(
                    0,
                    coalesce((o.max_concurrent_by_role ->> s.role)::integer, o.max_concurrent_jobs)
                    - coalesce((v_by_role ->> s.role)::integer, 0)
                )
            )
        ) AS picked
        LEFT JOIN task_limits l ON l.task_id = picked.task_id
        WHERE s.until > p_now AND s.role <> ALL (v_late_roles)
          AND NOT EXISTS (SELECT 1 FROM paused_roles p WHERE p.role = s.role)
        ORDER BY picked.urgent DESC, picked.priority, picked.seq
        LIMIT o.max_concurrent_jobs - v_used
    LOOP
        IF j.exclusive IS NOT NULL AND dure_startable(j.task_id, o.id, 1, p_now) < 1 THEN
            IF NOT v_held THEN
                PERFORM dure_hold_jobs(o.id, dure_blocked_tasks(o.id, p_now));
                v_held := true;
            END IF;
            CONTINUE;
        END IF;
        v_level := dure_level(j.urgent, v_used);
        v_used := v_used + 1;
        -- A start that counts is one of a claim of its own.
        v_claims := claim IS NULL AND p_along IS NOT NULL AND j.max_starts IS NULL AND CASE
            WHEN p_along ? 'job' THEN p_along ->> 'job' = j.id::text
            ELSE p_along -> 'roles' ? j.role AND v_level <= (p_along ->> 'level')::integer
        END;
        IF v_claims AND NOT p_along ? 'job' THEN
            v_claims := NOT dure_message_waits(p_along, o.id, p_now);
        END IF;
        e := NULL;
        IF j.execution_id IS NOT NULL THEN
            v_claims := false;
            UPDATE job_executions
            SET dispatch = dispatch + 1, dispatched_at = p_now, sent_at = p_now, sent_count = 1,
                due_at = NULL, exclusive_for = CASE WHEN j.exclusive THEN o.id || ':' || j.task_id ELSE '' END
            WHERE id = j.execution_id AND status || '' = 'PENDING'
            RETURNING * INTO e;
        END IF;
        IF e.id IS NULL THEN
            e := dure_insert_execution(
                dure_uuid7(p_now), j.job, CASE WHEN j.exclusive THEN o.id || ':' || j.task_id ELSE '' END,
                CASE WHEN v_claims THEN p_along END, p_now
            );
        END IF;
        UPDATE job_queue
        SET status = 'processing', execution_id = e.id, due_at = NULL, retry_at = NULL, held = false
        WHERE id = j.id;
        IF v_claims THEN
            PERFORM dure_log_start(e, j.batch_id, p_now);
            claim := dure_describe_claim(e) || jsonb_build_object(
                'execution', e.id, 'dispatch', e.dispatch, 'task_id', e.task_id
            );
        ELSE
            sends := sends || jsonb_build_array(jsonb_build_array(
                e.id, e.dispatch, e.role, e.task_id, v_level, e.retry_count
            ));
        END IF;
    END LOOP;
    IF v_held THEN
        -- Others may have the slots of those that are held now.
        SELECT dure_dispatch_and_claim.sends || d.sends, coalesce(dure_dispatch_and_claim.claim, d.claim)
        INTO sends, claim
        FROM dure_dispatch_and_claim(o, p_now, p_late, CASE WHEN claim IS NULL THEN p_along END) AS d;
    END IF;
END $$;


-- How many runs of a limited Task may start now for an office, up to `p_most`. An exclusive Task has one at a
-- time; of one with a rate limit, a start is possible again when the one `max_starts` before it is old enough.
-- What the office has sent already starts first. Without an office only the rate limit counts.
CREATE OR REPLACE FUNCTION dure_startable(p_task text, p_office uuid, p_most integer, p_now timestamptz)
RETURNS integer LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_sent integer;
    l task_limits;
BEGIN
    SELECT * INTO l FROM task_limits WHERE task_id = p_task;
    IF l.exclusive AND p_office IS NOT NULL THEN
        IF EXISTS (
            SELECT 1 FROM job_queue
            WHERE office_id = p_office AND status = 'processing' AND task_id = p_task
        ) THEN
            RETURN 0;
        END IF;
        p_most := least(p_most, 1);
    END IF;
    IF l.max_starts IS NULL THEN
        RETURN p_most;
    END IF;
    SELECT count(*) INTO v_sent FROM job_queue q JOIN job_executions e ON e.id = q.execution_id
    WHERE q.office_id = p_office AND q.status = 'processing' AND q.task_id = p_task
      AND e.status || '' = 'PENDING';
    RETURN (
        SELECT count(*) FROM generate_series(v_sent, least(v_sent + p_most, l.max_starts) - 1) AS further
        WHERE NOT EXISTS (
            SELECT 1 FROM task_starts s
            WHERE s.task_id = p_task AND s.place = (l.started + further) % l.max_starts
              AND s.at > p_now - l.period
        )
    );
END $$;


-- The limited Tasks of the ready jobs of an office of which none may start now.
CREATE OR REPLACE FUNCTION dure_blocked_tasks(p_office uuid, p_now timestamptz) RETURNS text[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY(
        SELECT l.task_id
        FROM (
            SELECT DISTINCT task_id FROM job_queue
            WHERE office_id = p_office AND status = 'ready' AND NOT held
        ) AS q
        JOIN task_limits l ON l.task_id = q.task_id
        WHERE dure_startable(l.task_id, p_office, 1, p_now) < 1
    );
END $$;


-- Lets the dispatches of an office pass the ready jobs of these Tasks by: none may start now. Dispatch names
-- all that it could find: with one at a time it would call itself once for each, deeper than the stack is.
CREATE OR REPLACE FUNCTION dure_hold_jobs(p_office uuid, p_tasks text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE job_queue SET held = true
    WHERE office_id = p_office AND status = 'ready' AND NOT held AND task_id = ANY (p_tasks);
    UPDATE offices SET holds = true WHERE id = p_office AND NOT holds;
END $$;


-- The roles of which an office may start a further job: a worker serves them, and their limit leaves a slot.
-- `p_by_role` has the slots in use.
CREATE OR REPLACE FUNCTION dure_open_roles(o offices, p_by_role jsonb, p_now timestamptz) RETURNS text[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY(
        SELECT s.role FROM served_roles s
        WHERE s.until > p_now
          AND NOT EXISTS (SELECT 1 FROM paused_roles p WHERE p.role = s.role)
          AND coalesce((p_by_role ->> s.role)::integer, 0)
              < coalesce((o.max_concurrent_by_role ->> s.role)::integer, o.max_concurrent_jobs)
    );
END $$;


-- Gives the first held jobs of each Task back to the dispatch, as many as may start now, of these roles only:
-- one that waits for its role as well would keep those behind it waiting.
CREATE OR REPLACE FUNCTION dure_unhold(o offices, p_slots integer, p_roles text[], p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_task text;
BEGIN
    FOR v_task IN
        SELECT l.task_id FROM task_limits l WHERE EXISTS (
            SELECT 1 FROM job_queue
            WHERE office_id = o.id AND status = 'ready' AND held AND task_id = l.task_id
        )
    LOOP
        UPDATE job_queue SET held = false WHERE id IN (
            SELECT id FROM job_queue
            WHERE office_id = o.id AND status = 'ready' AND held AND task_id = v_task AND role = ANY (p_roles)
            ORDER BY urgent DESC, priority, seq
            LIMIT dure_startable(v_task, o.id, p_slots, p_now)
        );
    END LOOP;
    UPDATE offices SET holds = false
    WHERE id = o.id
      AND NOT EXISTS (SELECT 1 FROM job_queue WHERE office_id = o.id AND status = 'ready' AND held);
END $$;


-- Counts a start of a Task with a rate limit: `at` is its time, or `until` when the next one is possible.
-- Starts have their place in a ring of `max_starts`; the row of the Task is locked until the commit.
CREATE OR REPLACE FUNCTION dure_count_start(p_task text, OUT at timestamptz, OUT until timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    l task_limits;
BEGIN
    SELECT * INTO l FROM task_limits WHERE task_id = p_task FOR NO KEY UPDATE;
    at := clock_timestamp();
    IF l.max_starts IS NULL THEN
        RETURN;
    END IF;
    SELECT s.at + l.period INTO until FROM task_starts s
    WHERE s.task_id = p_task AND s.place = l.started % l.max_starts;
    IF until >= at THEN
        RETURN;
    END IF;
    until := NULL;
    INSERT INTO task_starts AS s (task_id, place, at) VALUES (p_task, l.started % l.max_starts, at)
    ON CONFLICT (task_id, place) DO UPDATE SET at = EXCLUDED.at;
    UPDATE task_limits SET started = started + 1 WHERE task_id = p_task;
END $$;


-- Sets what workers have registered of a Task. After a change of the limit the newest starts still count.
CREATE OR REPLACE FUNCTION dure_limit_task(
    p_task text, p_exclusive boolean, p_max_starts integer, p_period interval
) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    l task_limits;
    v_starts timestamptz[];
BEGIN
    IF p_exclusive OR p_max_starts IS NOT NULL THEN
        INSERT INTO task_limits (task_id, exclusive, started) VALUES (p_task, false, 0) ON CONFLICT DO NOTHING;
    END IF;
    SELECT * INTO l FROM task_limits WHERE task_id = p_task FOR NO KEY UPDATE;
    IF NOT FOUND OR (l.exclusive, l.max_starts, l.period)
       IS NOT DISTINCT FROM (p_exclusive, p_max_starts, p_period) THEN
        RETURN;
    END IF;
    IF l.max_starts IS DISTINCT FROM p_max_starts THEN
        v_starts := ARRAY(
            SELECT at FROM task_starts WHERE task_id = p_task ORDER BY at DESC LIMIT coalesce(p_max_starts, 0)
        );
        DELETE FROM task_starts WHERE task_id = p_task;
        INSERT INTO task_starts (task_id, place, at)
        SELECT p_task, cardinality(v_starts) - number, at
        FROM unnest(v_starts) WITH ORDINALITY AS s (at, number);
        l.started := cardinality(v_starts);
    END IF;
    UPDATE task_limits
    SET exclusive = p_exclusive, max_starts = p_max_starts, period = p_period, started = l.started
    WHERE task_id = p_task;
END $$;


CREATE OR REPLACE FUNCTION dure_dispatch(o offices, p_now timestamptz) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT sends FROM dure_dispatch_and_claim(o, p_now, '{}', NULL));
END $$;


-- UUID version 7: time first, so that new rows stay together in the indexes. (PostgreSQL 18 has its
-- own; this serves older servers too.)
CREATE OR REPLACE FUNCTION dure_uuid7(p_now timestamptz) RETURNS uuid
LANGUAGE sql VOLATILE AS $$
    SELECT encode(
        set_bit(set_bit(
            overlay(uuid_send(gen_random_uuid())
                    PLACING substring(int8send((extract(epoch FROM p_now) * 1000)::bigint) FROM 3)
                    FROM 1 FOR 6),
            52, 1), 53, 1), 'hex')::uuid
$$;


-- Ends those of these batches in which no job is left to do.
CREATE OR REPLACE FUNCTION dure_close_batches(p_office uuid, p_batches uuid[], p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_batch uuid;
BEGIN
    FOREACH v_batch IN ARRAY p_batches LOOP
        CONTINUE WHEN EXISTS (
            SELECT 1 FROM job_queue
            WHERE batch_id = v_batch AND status IN ('pending', 'timeout', 'ready', 'processing')
        );
        UPDATE job_batches SET ended_at = p_now WHERE id = v_batch;
        PERFORM dure_event(p_office, NULL, v_batch, 'batch_completed', (
            SELECT jsonb_object_agg(status, n)
            FROM (
                SELECT status, count(*) AS n FROM job_queue WHERE batch_id = v_batch GROUP BY status
            ) AS counts
        ), p_now);
    END LOOP;
END $$;


-- A chord part: the join, the dependency and its place; then what the message of the join needs.
CREATE OR REPLACE FUNCTION dure_part(
    p_join uuid, p_role text, p_task_id text, p_urgent boolean, p_parent uuid, p_position integer
) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_array(
        p_join, p_parent, p_position, p_role, p_task_id, CASE WHEN p_urgent THEN 0 ELSE 3 END
    )
$$;


-- What follows from the end of jobs: children that fail with `p_unsuccessful` (those of them that failed or
-- were cancelled, or jobs that had ended so before their new children came), children that become ready, and
-- the chord parts of joins that wait for more. `p_release_joins` releases joins here instead, for ends in bulk
-- and for jobs whose parts were counted before a manual retry.
CREATE OR REPLACE FUNCTION dure_after_end(
    p_office uuid, p_jobs uuid[], p_unsuccessful uuid[], p_release_joins boolean, p_now timestamptz
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_ended uuid[] := p_jobs;
    v_wave uuid[] := p_unsuccessful;
    v_release_joins boolean := p_release_joins;
    v_parts jsonb;
    v_children uuid[];
BEGIN
    -- A failure spreads along the children whose policy is `fail`, wave by wave.
    WHILE cardinality(v_wave) > 0 LOOP
        v_children := ARRAY(SELECT DISTINCT job_id FROM job_dependencies WHERE parent_id = ANY (v_wave));
        EXIT WHEN v_children = '{}';
        WITH failed AS (
            UPDATE job_queue c
            SET status = 'failed', failure_type = 'dependency_failed', completed_at = p_now, due_at = NULL,
                retry_at = NULL, ended_before = true,
                error_message = 'A dependency failed or was cancelled: ' || (
                    SELECT coalesce(nullif(p.ref, ''), p.id::text) FROM job_queue p WHERE p.id = (
                        SELECT d.parent_id FROM job_dependencies d
                        WHERE d.job_id = c.id AND d.parent_id = ANY (v_wave) ORDER BY d.position LIMIT 1
                    )
                )
            WHERE c.id = ANY (v_children) AND c.on_dependency_failure = 'fail'
              AND c.status || '' IN ('pending', 'timeout')
            RETURNING c.id, c.batch_id, c.seq, c.error_message
        ), logged AS (
            INSERT INTO job_events (office_id, job_id, batch_id, type, details, at)
            SELECT p_office, id, batch_id, 'job_failed',
                   jsonb_build_object('failure_type', 'dependency_failed', 'error', error_message), p_now
            FROM failed ORDER BY seq
        )
        SELECT coalesce(array_agg(id), '{}') INTO v_wave FROM failed;
        EXIT WHEN v_wave = '{}';
        v_ended := v_ended || v_wave;
        v_release_joins := true;
    END LOOP;

    SELECT array_agg(DISTINCT c.id)
               FILTER (WHERE c.dependency_count = 1 OR v_release_joins OR p.ended_before),
           jsonb_agg(dure_part(c.id, c.role, c.task_id, c.urgent, d.parent_id, d.position))
               FILTER (WHERE c.dependency_count > 1)
    INTO v_children, v_parts
    FROM job_dependencies d
    CROSS JOIN LATERAL (SELECT * FROM job_queue WHERE id = d.parent_id OFFSET 0) AS p
    CROSS JOIN LATERAL (SELECT * FROM job_queue WHERE id = d.job_id OFFSET 0) AS c
    WHERE d.parent_id = ANY (v_ended) AND c.status IN ('pending', 'timeout')
      AND (p.status = 'done' OR (c.on_dependency_failure = 'run' AND p.status IN ('failed', 'cancelled')));
    IF v_children IS NOT NULL THEN
        PERFORM dure_ready(p_office, v_children, p_now);
        IF v_parts IS NOT NULL THEN
            -- A join that was released here needs no count; one that still waits does.
            SELECT jsonb_agg(part) INTO v_parts
            FROM jsonb_array_elements(v_parts) AS part
            CROSS JOIN LATERAL (
                SELECT status FROM job_queue WHERE id = (part ->> 0)::uuid OFFSET 0
            ) AS c
            WHERE c.status IN ('pending', 'timeout');
        END IF;
    END IF;

    PERFORM dure_close_batches(p_office, array_remove(
        ARRAY(SELECT DISTINCT batch_id FROM job_queue WHERE id = ANY (v_ended)), NULL
    ), p_now);
    RETURN coalesce(v_parts, '[]');
END $$;


-- Execution PENDING → RUNNING, for the one message that may. Null: a duplicate, to be dropped. `held`: it
-- may not start yet, and waits without a message: see dure_hold.
-- A second call with the same token answers the same: a COMMIT can raise and have committed.
-- `p_is_early`: the message went out before its submission was written. The claim waits for one that is under
-- way; one that has not begun will find a mark, and send the message again.
CREATE OR REPLACE FUNCTION dure_claim(
    p_execution uuid, p_dispatch integer, p_token text, p_worker text, p_lease interval, p_is_early boolean
) RETURNS jsonb LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_office uuid;
    v_now timestamptz;
    v_watched timestamptz;
    v_allowed boolean := false;
    v_hold jsonb;
    v_waits_for_disk text := current_setting('synchronous_commit');
    v_submitted pg_lsn;
    e job_executions;
BEGIN
    IF p_is_early THEN
        PERFORM dure_lock_early(p_execution);
        -- Its submission is in the WAL up to here, and this transaction is not yet.
        v_submitted := pg_current_wal_insert_lsn();
        IF NOT EXISTS (SELECT 1 FROM job_executions WHERE id = p_execution) THEN
            INSERT INTO early_messages (execution, at) VALUES (p_execution, clock_timestamp())
            ON CONFLICT DO NOTHING;
            RETURN NULL;
        END IF;
    END IF;
    SELECT o.id, o.watched_until INTO v_office, v_watched
    FROM job_executions x JOIN offices o ON o.id = x.office_id
    WHERE x.id = p_execution FOR NO KEY UPDATE OF o;
    v_now := clock_timestamp();
    -- A claim need not wait for the disk: when a crash of the database undoes it, its message is
    -- republished, and no write of its owner is accepted. But the submission of an early message must be there.
    IF NOT p_is_early THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    LOOP
        UPDATE job_executions
        SET status = 'RUNNING', attempt = attempt + 1,
            fence = greatest(fence + 1, dure_first_fence(v_now)),
            token = p_token, worker = p_worker,
            started_at = coalesce(started_at, v_now), attempt_started_at = v_now,
            timeout_at = v_now + timeout_ms * interval '1 millisecond',
            locked_until = clock_timestamp() + p_lease, progress = NULL, session_id = ''
        WHERE id = p_execution AND dispatch = p_dispatch AND status || '' = 'PENDING'
          AND dispatched_at IS NOT NULL
          AND (
              v_allowed
              OR NOT EXISTS (SELECT 1 FROM paused_roles p WHERE p.role = job_executions.role)
              AND NOT EXISTS (
                  SELECT 1 FROM task_limits l
                  WHERE l.task_id = job_executions.task_id AND l.max_starts IS NOT NULL
              )
              AND (job_id IS NOT NULL OR exclusive_for = '')
          )
        RETURNING * INTO e;
        IF FOUND THEN
            IF v_office IS NOT NULL THEN
                PERFORM dure_log_start(e, (SELECT batch_id FROM job_queue WHERE id = e.job_id), v_now);
            END IF;
            EXIT;
        END IF;
        SELECT * INTO e FROM job_executions
        WHERE id = p_execution AND status || '' = 'RUNNING' AND token = p_token AND worker = p_worker;
        EXIT WHEN FOUND;
        v_hold := dure_hold(p_execution, p_dispatch, v_office, v_now);
        IF v_hold IS NULL OR NOT v_hold ? 'at' THEN
            IF jsonb_array_length(v_hold -> 'send') > 0 THEN
                -- The submissions of what it sends may not be on the disk yet.
                PERFORM set_config('synchronous_commit', v_waits_for_disk, true);
            END IF;
            RETURN v_hold;
        END IF;
        v_allowed := true;
        v_now := v_hold ->> 'at';
    END LOOP;
    -- What synchronous standbys have cannot be told from here.
    IF v_submitted <= pg_current_wal_flush_lsn() AND current_setting('synchronous_standby_names') = '' THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    RETURN dure_describe_claim(e)
        || jsonb_build_object('publish', CASE WHEN v_watched > v_now THEN v_office END);
END $$;


-- One transaction at a time submits the job of an early message, or claims its Execution.
CREATE OR REPLACE FUNCTION dure_lock_early(p_execution uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('dure.early_message:' || p_execution, 0));
END $$;


-- What a message finds whose run may not start without a look at its limits. `at`: it may, from then on, and
-- that is counted. `held`: it waits again. A job is ready, and holds no slot; what has no job is due, for when
-- its role is resumed, its Task's rate allows it, or an exclusive run has ended. Null: there is nothing to claim.
CREATE OR REPLACE FUNCTION dure_hold(
    p_execution uuid, p_dispatch integer, p_office uuid, p_now timestamptz
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_due timestamptz;
    e job_executions;
    o offices;
    s record;
BEGIN
    SELECT * INTO e FROM job_executions WHERE id = p_execution;
    IF e.job_id IS NULL AND e.exclusive_for <> '' THEN
        PERFORM dure_lock_exclusive(e.exclusive_for);
    END IF;
    SELECT * INTO e FROM job_executions
    WHERE id = p_execution AND dispatch = p_dispatch AND status || '' = 'PENDING'
      AND dispatched_at IS NOT NULL
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF EXISTS (SELECT 1 FROM paused_roles WHERE role = e.role) THEN
        v_due := p_now;
    ELSIF e.job_id IS NULL AND e.exclusive_for <> '' AND EXISTS (
        SELECT 1 FROM job_executions WHERE exclusive_for = e.exclusive_for AND status = 'RUNNING'
    ) THEN
        v_due := p_now + interval '30 seconds';  -- in case that nobody wakes it: see dure_wake_exclusive
    ELSE
        SELECT * INTO s FROM dure_count_start(e.task_id);
        IF s.until IS NULL THEN
            RETURN jsonb_build_object('at', s.at);
        END IF;
        IF e.job_id IS NULL THEN
            v_due := coalesce(dure_next_start(e.task_id), s.until);
        END IF;
    END IF;
    IF e.job_id IS NULL THEN
        UPDATE job_executions SET dispatched_at = NULL, due_at = v_due, sent_count = 0 WHERE id = e.id;
        RETURN '{"held": true}';
    END IF;
    PERFORM dure_return(p_office, ARRAY[e.job_id], p_now);
    IF v_due IS NULL THEN
        PERFORM dure_hold_jobs(p_office, ARRAY[e.task_id]);
    END IF;
    SELECT * INTO o FROM offices WHERE id = p_office;
    RETURN '{"held": true}' || dure_effects(o, p_now, dure_dispatch(o, p_now), '[]', o.has_webhooks);
END $$;


-- When a further run without a job may start, after those that wait for the same rate limit already.
CREATE OR REPLACE FUNCTION dure_next_start(p_task text) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT s.at + l.period * (1 + w.waiting / l.max_starts)
        FROM task_limits l
        CROSS JOIN LATERAL (
            SELECT count(*) AS waiting FROM job_executions
            WHERE task_id = p_task AND status = 'PENDING' AND job_id IS NULL AND dispatched_at IS NULL
              AND due_at > clock_timestamp()
        ) AS w
        JOIN task_starts s ON s.task_id = p_task AND s.place = (l.started + w.waiting) % l.max_starts
        WHERE l.task_id = p_task
    );
END $$;


-- One transaction at a time decides whether an exclusive run without an office starts, or wakes the next one.
CREATE OR REPLACE FUNCTION dure_lock_exclusive(p_key text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('dure.exclusive_run:' || p_key, 0));
END $$;


-- Sends the run without a job that has waited longest for the end of this exclusive one. (A run between two
-- attempts has been sent before, and one that was held has not since.)
CREATE OR REPLACE FUNCTION dure_wake_exclusive(e job_executions, p_now timestamptz) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    v_sends jsonb;
BEGIN
    PERFORM dure_lock_exclusive(e.exclusive_for);
    WITH woken AS (
        UPDATE job_executions
        SET dispatch = dispatch + 1, dispatched_at = p_now, sent_at = p_now, sent_count = 1, due_at = NULL
        WHERE id = (
            SELECT id FROM job_executions
            WHERE task_id = e.task_id AND status = 'PENDING' AND job_id IS NULL
              AND exclusive_for = e.exclusive_for AND dispatched_at IS NULL AND sent_count = 0
            ORDER BY id LIMIT 1
        )
        RETURNING id, dispatch, role, task_id, retry_count
    )
    SELECT jsonb_agg(jsonb_build_array(id, dispatch, role, task_id, 0, retry_count)) INTO v_sends FROM woken;
    RETURN coalesce(v_sends, '[]');
END $$;


-- Whether a message for a role of `p_along` has waited for long: its process is to take that next, if it
-- `yields`. Messages of the office itself may wait longer: nobody else waits for them. Of each role the oldest
-- counts. What has no message yet may be a hundred thousand runs, and is not looked at.
CREATE OR REPLACE FUNCTION dure_message_waits(p_along jsonb, p_office uuid, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (p_along ->> 'yields')::boolean AND EXISTS (
        SELECT 1
        FROM jsonb_array_elements_text(p_along -> 'roles') AS r (role)
        CROSS JOIN LATERAL (
            SELECT office_id, sent_at FROM job_executions
            WHERE role = r.role AND status = 'PENDING' AND dispatched_at IS NOT NULL AND sent_count > 0
            ORDER BY sent_at LIMIT 1
        ) AS oldest
        WHERE oldest.sent_at < p_now - CASE
            WHEN oldest.office_id = p_office THEN interval '3 seconds' ELSE interval '1 second'
        END
    );
END $$;


-- What follows the end of a run that no office owns, of those that wait without a message (`sent_count` 0: see
-- dure_send_unsent): the oldest of the roles of `p_along` is claimed for the same process, unless a more urgent
-- message waits for these, or any has waited for long. Else the oldest of this role is sent.
CREATE OR REPLACE FUNCTION dure_start_next(
    p_role text, p_along jsonb, p_now timestamptz, OUT sends jsonb, OUT claim jsonb
) LANGUAGE plpgsql AS $$
DECLARE
    v_waits_for_disk text := current_setting('synchronous_commit');
    n record;
BEGIN
    sends := '[]';
    IF (p_along ->> 'level')::integer >= 3 AND NOT dure_message_waits(p_along, NULL, p_now) THEN
        SELECT u.* INTO n
        FROM jsonb_array_elements_text(p_along -> 'roles') AS r (role)
        CROSS JOIN LATERAL (
            SELECT id, dispatch, task_id, sent_at FROM job_executions
            WHERE role = r.role AND status = 'PENDING' AND dispatched_at IS NOT NULL AND sent_count = 0
              AND job_id IS NULL AND exclusive_for = ''
              AND NOT EXISTS (
                  SELECT 1 FROM task_limits l
                  WHERE l.task_id = job_executions.task_id AND l.max_starts IS NOT NULL
              )
            ORDER BY sent_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
        ) AS u
        WHERE NOT EXISTS (SELECT 1 FROM paused_roles p WHERE p.role = r.role)
        ORDER BY u.sent_at LIMIT 1;
        IF FOUND THEN
            claim := dure_claim(
                n.id, n.dispatch, p_along ->> 'token', p_along ->> 'worker', (p_along ->> 'lease')::interval,
                false
            );
            -- A claim need not wait for the disk, but the end before it has to.
            PERFORM set_config('synchronous_commit', v_waits_for_disk, true);
            IF claim ? 'fence' THEN
                claim := claim || jsonb_build_object(
                    'execution', n.id, 'dispatch', n.dispatch, 'task_id', n.task_id
                );
                RETURN;
            END IF;
            claim := NULL;
        END IF;
    END IF;
    sends := dure_send_oldest(p_role, 1, p_now);
END $$;


-- Sends so many of the runs of a role that no office owns and that wait without a message, oldest first. It
-- leaves those that another transaction claims or sends. The planner expects a tenth of all that wait, and
-- would read and sort all of them; so it has only the index that is in their order.
CREATE OR REPLACE FUNCTION dure_send_oldest(p_role text, p_most bigint, p_now timestamptz) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    v_oldest uuid[];
    v_sends jsonb;
BEGIN
    v_oldest := ARRAY(
        SELECT id FROM job_executions
        WHERE role = p_role AND status = 'PENDING' AND dispatched_at IS NOT NULL AND sent_count = 0
          AND job_id IS NULL AND NOT EXISTS (SELECT 1 FROM paused_roles p WHERE p.role = p_role)
        ORDER BY sent_at LIMIT greatest(p_most, 0) FOR NO KEY UPDATE SKIP LOCKED
    );
    WITH sent AS (
        UPDATE job_executions SET sent_at = p_now, sent_count = 1 WHERE id = ANY (v_oldest)
        RETURNING id, dispatch, role, task_id, retry_count
    )
    SELECT jsonb_agg(jsonb_build_array(id, dispatch, role, task_id, 3, retry_count)) INTO v_sends FROM sent;
    RETURN coalesce(v_sends, '[]');
END $$;


-- Many runs that no office owns, started at once, need few messages: each one's end claims or sends the next.
-- So for each served role as many messages are made to wait as its workers have processes, and `p_few` at
-- least. One that has waited for a second is not counted: it may be lost.
CREATE OR REPLACE FUNCTION dure_send_unsent(p_few integer) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_sends jsonb := '[]';
    v_role text;
BEGIN
    FOR v_role IN
        SELECT s.role FROM served_roles s CROSS JOIN LATERAL (
            SELECT 1 FROM job_executions
            WHERE role = s.role AND status = 'PENDING' AND dispatched_at IS NOT NULL AND sent_count = 0
              AND job_id IS NULL
            LIMIT 1
        ) AS waiting
        WHERE s.until > v_now
    LOOP
        v_sends := v_sends || dure_send_oldest(v_role, greatest(p_few, (
            SELECT sum(slots) FROM workers
            WHERE roles ? v_role AND NOT draining AND seen_at > v_now - interval '1 minute'
        )) - (
            SELECT count(*) FROM job_executions
            WHERE status = 'PENDING' AND dispatched_at IS NOT NULL AND sent_at > v_now - interval '1 second'
              AND sent_count > 0 AND job_id IS NULL AND role = v_role
        ), v_now);
    END LOOP;
    RETURN v_sends;
END $$;


-- The fence of a first claim. It follows the clock, so that a number is never given out twice, though a
-- claim may be undone by a crash of the database.
CREATE OR REPLACE FUNCTION dure_first_fence(p_now timestamptz) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT (extract(epoch FROM p_now) * 1000)::bigint
$$;


CREATE OR REPLACE FUNCTION dure_log_start(e job_executions, p_batch uuid, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO job_events (office_id, job_id, batch_id, type, details, at)
    VALUES (e.office_id, e.job_id, p_batch, 'job_started', jsonb_build_object(
        'execution_id', e.id, 'attempt', e.attempt, 'fence', e.fence, 'worker', e.worker
    ), p_now);
END $$;


-- What the process that has claimed a run needs to know of it.
CREATE OR REPLACE FUNCTION dure_describe_claim(e job_executions) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN jsonb_build_object(
        'fence', e.fence,
        'attempt', e.attempt,
        'retry_count', e.retry_count,
        'retry_backoff', e.retry_backoff,
        'retry_base_delay_ms', e.retry_base_delay_ms,
        'timeout_ms', e.timeout_ms,
        'timeout_at', extract(epoch FROM e.timeout_at),
        'args', e.args,
        'source', e.source,
        'trigger', e.trigger,
        'job', e.job_id
    );
END $$;


-- The last part of a join came in: the job becomes ready, takes a slot in its order, and is claimed. What
-- else the slots let start is sent. Null: it waits for more, or another call was first.
CREATE OR REPLACE FUNCTION dure_claim_join(
    p_job uuid, p_token text, p_worker text, p_lease interval
) RETURNS jsonb LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_office uuid;
    v_now timestamptz;
    v_execution uuid;
    v_dispatch integer;
    o offices;
    d record;
BEGIN
    SELECT office_id INTO v_office FROM job_queue WHERE id = p_job;
    SELECT * INTO o FROM offices WHERE id = v_office FOR NO KEY UPDATE;
    v_now := clock_timestamp();
    IF dure_ready(v_office, ARRAY[p_job], v_now) > 0 THEN
        SELECT * INTO d FROM dure_dispatch_and_claim(o, v_now, '{}', jsonb_build_object(
            'job', p_job, 'token', p_token, 'worker', p_worker, 'lease', p_lease
        ));
        IF d.sends = '[]' THEN
            -- As any claim it need not wait for the disk: a sweep releases the join again.
            PERFORM set_config('synchronous_commit', 'off', true);
        END IF;
        RETURN coalesce(d.claim, '{}') || dure_effects(o, v_now, d.sends, '[]', o.has_webhooks);
    END IF;
    -- A second call with the same token answers the same.
    SELECT e.id, e.dispatch INTO v_execution, v_dispatch
    FROM job_queue q JOIN job_executions e ON e.id = q.execution_id
    WHERE q.id = p_job AND e.status || '' = 'RUNNING' AND e.token = p_token AND e.worker = p_worker;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    RETURN dure_claim(v_execution, v_dispatch, p_token, p_worker, p_lease, false)
        || jsonb_build_object('execution', v_execution, 'dispatch', v_dispatch)
        || dure_effects(o, v_now, '[]', '[]', o.has_webhooks);
END $$;


-- The end of a run that its owner reports: RUNNING → SUCCESS, FAILED, CANCELLED, or PENDING again for
-- the next attempt. Null: the caller no longer owns it, and nothing was written.
-- `p_delay` is the wait before another attempt; null when there is to be none. `p_along` lets the same
-- process claim one of the jobs that this starts: see dure_dispatch_and_claim.
CREATE OR REPLACE FUNCTION dure_finish(
    p_execution uuid, p_fence bigint, p_outcome text, p_result jsonb, p_failure text, p_error text,
    p_traceback text, p_delay interval, p_max_crashes integer, p_along jsonb
) RETURNS jsonb LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    o offices;
    e job_executions;
BEGIN
    SELECT o2.* INTO o
    FROM job_executions x JOIN offices o2 ON o2.id = x.office_id
    WHERE x.id = p_execution FOR NO KEY UPDATE OF o2;
    SELECT * INTO e FROM job_executions
    WHERE id = p_execution AND fence = p_fence AND status || '' = 'RUNNING'
      AND locked_until > clock_timestamp()
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN dure_finish_again(p_execution, p_along);
    END IF;
    RETURN dure_settle(
        e, o, p_outcome, p_result, p_failure, p_error, p_traceback, p_delay, p_max_crashes, p_along
    );
END $$;


-- A finish can have committed although its answer was lost. A second one finds by the token what the first has
-- claimed for the process, which goes on with that; all else that follows is left to the sweeps.
CREATE OR REPLACE FUNCTION dure_finish_again(p_execution uuid, p_along jsonb) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    e job_executions;
    n job_executions;
BEGIN
    SELECT * INTO n FROM job_executions
    WHERE status = 'RUNNING' AND worker = p_along ->> 'worker' AND token = p_along ->> 'token'
      AND locked_until > clock_timestamp();
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT * INTO e FROM job_executions WHERE id = p_execution;
    RETURN jsonb_build_object(
        'state', e.status, 'source', e.source, 'failure_type', e.failure_type, 'error', e.error,
        'claim', dure_describe_claim(n) || jsonb_build_object(
            'execution', n.id, 'dispatch', n.dispatch, 'task_id', n.task_id
        )
    );
END $$;


-- What a transaction writes so that its commit waits for the disk, and with that for all earlier ones.
CREATE OR REPLACE FUNCTION dure_flush() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_logical_emit_message(true, 'dure', '');
END $$;


-- dure_finish in a transaction of its own whose locks do not wait for the disk, only its answer does. Others may
-- see what it wrote before a crash of the database could no longer undo it, for as long as one write to the
-- disk takes. All that they commit meanwhile comes after it on the disk.
CREATE OR REPLACE PROCEDURE dure_finish_and_commit(
    p_execution uuid, p_fence bigint, p_outcome text, p_result jsonb, p_failure text, p_error text,
    p_traceback text, p_delay interval, p_max_crashes integer, p_along jsonb, INOUT answer jsonb
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    answer := dure_finish(
        p_execution, p_fence, p_outcome, p_result, p_failure, p_error, p_traceback, p_delay, p_max_crashes,
        p_along
    );
    COMMIT;
    PERFORM dure_flush();
END $$;


-- The end of a run whose lease ran out (`p_expired`), or whose process was seen to die. A null
-- `p_max_crashes` means that it is no crash: its worker is stopping and releases the run.
CREATE OR REPLACE FUNCTION dure_mark_lost(
    p_execution uuid, p_fence bigint, p_expired boolean, p_error text, p_max_crashes integer
) RETURNS jsonb LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    o offices;
    e job_executions;
BEGIN
    SELECT o2.* INTO o
    FROM job_executions x JOIN offices o2 ON o2.id = x.office_id
    WHERE x.id = p_execution FOR NO KEY UPDATE OF o2;
    SELECT * INTO e FROM job_executions
    WHERE id = p_execution AND fence = p_fence AND status || '' = 'RUNNING'
      AND (NOT p_expired OR locked_until < now())
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    RETURN dure_settle(e, o, 'lost', NULL, 'worker_lost', p_error, '', interval '0', p_max_crashes, NULL);
END $$;


-- Decides what the end of an attempt means, and writes it: attempt, Execution, job, events, children,
-- and what starts next in the slot that became free. The caller holds the locks.
CREATE OR REPLACE FUNCTION dure_settle(
    e job_executions, o offices, p_outcome text, p_result jsonb, p_failure text, p_error text,
    p_traceback text, p_delay interval, p_max_crashes integer, p_along jsonb
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_outcome text := p_outcome;
    v_failure text := coalesce(p_failure, '');
    v_error text := coalesce(p_error, '');
    v_status text;                -- the Execution's
    v_restart boolean := false;   -- it starts again at once, in the same slot
    v_due timestamptz;            -- when its next attempt is due
    v_dispatch integer := e.dispatch;
    v_parts jsonb := '[]';
    v_sends jsonb := '[]';
    v_batch uuid;
    v_ended_before boolean;       -- its joins' parts were counted before a manual retry
    v_details jsonb;
    v_answer jsonb;
    d record;
BEGIN
    IF e.cancel_requested_at IS NOT NULL THEN
        v_status := 'CANCELLED';
        v_outcome := 'cancelled';
        v_failure := 'cancelled';
        v_error := '';
    ELSIF v_outcome = 'success' THEN
        v_status := 'SUCCESS';
    ELSIF v_outcome = 'lost' THEN
        IF e.on_lost = 'fail' THEN
            v_status := 'FAILED';
        ELSIF e.crash_count + 1 >= p_max_crashes THEN  -- never true when it is null
            v_status := 'FAILED';
            v_failure := 'poison';
            v_error := format(
                'Its worker died %s times while running this, so it is not retried. %s',
                e.crash_count + 1, v_error
            );
        ELSE
            v_status := 'PENDING';
            v_restart := true;
            v_dispatch := e.dispatch + 1;
        END IF;
    ELSIF p_delay IS NOT NULL AND e.retry_count < e.max_retries
          AND (o.id IS NULL OR o.retryable_failures ? v_failure) THEN
        v_status := 'PENDING';
        v_due := v_now + p_delay;
    ELSE
        v_status := 'FAILED';
    END IF;

    INSERT INTO job_attempts (
        execution_id, number, started_at, timeout_at, ended_at, outcome, failure_type, error, traceback,
        worker, token, session_id
    ) VALUES (
        e.id, e.attempt, e.attempt_started_at, e.timeout_at, v_now, v_outcome, v_failure, v_error,
        CASE WHEN v_outcome = 'cancelled' THEN '' ELSE coalesce(p_traceback, '') END,
        e.worker, e.token, e.session_id
    );

    UPDATE job_executions
    SET status = v_status,
        locked_until = NULL,
        result = CASE WHEN v_status = 'SUCCESS' THEN p_result END,
        failure_type = v_failure,
        error = v_error,
        retry_count = retry_count + (v_due IS NOT NULL)::integer,
        crash_count = crash_count + (v_outcome = 'lost' AND p_max_crashes IS NOT NULL)::integer,
        dispatch = v_dispatch,
        dispatched_at = CASE WHEN v_restart THEN v_now WHEN v_due IS NULL THEN dispatched_at END,
        sent_at = CASE WHEN v_restart THEN v_now ELSE sent_at END,
        -- It was sent, although its message may have counted as unsent.
        sent_count = CASE WHEN v_restart THEN 1 ELSE greatest(sent_count, 1) END,
        due_at = v_due,
        finished_at = CASE WHEN v_status <> 'PENDING' THEN v_now END
    WHERE id = e.id;

    IF v_restart THEN
        v_sends := jsonb_build_array(jsonb_build_array(
            e.id, v_dispatch, e.role, e.task_id, 0, e.retry_count
        ));
    END IF;
    v_answer := jsonb_build_object(
        'state', v_status, 'source', e.source, 'failure_type', v_failure, 'error', v_error
    );
    IF o.id IS NULL THEN
        IF NOT v_restart THEN
            IF e.exclusive_for <> '' THEN
                v_sends := dure_wake_exclusive(e, v_now);
            END IF;
            SELECT * INTO d FROM dure_start_next(e.role, p_along, v_now);
            v_answer := v_answer || jsonb_build_object('claim', d.claim);
            v_sends := v_sends || d.sends;
        END IF;
        RETURN v_answer || jsonb_build_object('send', v_sends);
    END IF;

    IF v_restart THEN
        UPDATE job_queue SET failure_type = v_failure, error_message = v_error
        WHERE id = e.job_id RETURNING batch_id INTO v_batch;
    ELSIF v_status = 'PENDING' THEN
        UPDATE job_queue
        SET status = CASE WHEN v_failure = 'timeout' THEN 'timeout' ELSE 'pending' END,
            retry_count = e.retry_count + 1,
            retry_at = v_due,
            due_at = v_due,
            started_at = coalesce(started_at, e.started_at),
            failure_type = v_failure,
            error_message = v_error
        WHERE id = e.job_id RETURNING batch_id INTO v_batch;
    ELSE
        UPDATE job_queue
        SET status = CASE v_status
                WHEN 'SUCCESS' THEN 'done' WHEN 'FAILED' THEN 'failed' ELSE 'cancelled'
            END,
            started_at = coalesce(started_at, e.started_at),
            completed_at = v_now,
            retry_count = e.retry_count,
            cancelled_at = CASE WHEN v_status = 'CANCELLED' THEN coalesce(cancelled_at, v_now) END,
            failure_type = v_failure,
            error_message = v_error
        WHERE id = e.job_id RETURNING batch_id, ended_before INTO v_batch, v_ended_before;
    END IF;

    v_details := jsonb_build_object('execution_id', e.id, 'attempt', e.attempt, 'fence', e.fence);
    IF v_failure <> '' THEN
        v_details := v_details || jsonb_build_object(
            'failure_type', v_failure, 'error', left(v_error, 2000)
        );
    END IF;
    IF v_failure = 'timeout' THEN
        PERFORM dure_event(o.id, e.job_id, v_batch, 'job_timeout', v_details, v_now);
    END IF;
    IF v_status = 'PENDING' THEN
        v_details := v_details || jsonb_build_object('retry_at', coalesce(v_due, v_now));
    END IF;
    INSERT INTO job_events (office_id, job_id, batch_id, type, details, at)
    VALUES (o.id, e.job_id, v_batch, CASE v_status
        WHEN 'SUCCESS' THEN 'job_completed'
        WHEN 'FAILED' THEN 'job_failed'
        WHEN 'CANCELLED' THEN 'job_cancelled'
        ELSE 'job_retrying'
    END, v_details, v_now);

    IF v_status <> 'PENDING' THEN
        IF EXISTS (SELECT 1 FROM job_dependencies WHERE parent_id = e.job_id) THEN
            v_parts := dure_after_end(
                o.id, ARRAY[e.job_id], CASE WHEN v_status = 'SUCCESS' THEN '{}' ELSE ARRAY[e.job_id] END,
                v_ended_before, v_now
            );
        ELSIF v_batch IS NOT NULL THEN
            PERFORM dure_close_batches(o.id, ARRAY[v_batch], v_now);
        END IF;
    END IF;
    SELECT * INTO d FROM dure_dispatch_and_claim(o, v_now, '{}', p_along);
    RETURN v_answer || jsonb_build_object('claim', d.claim)
        || dure_effects(o, v_now, v_sends || d.sends, v_parts, v_status = 'FAILED' OR o.has_webhooks);
END $$;


-- Renews the leases of all runs of a worker, with a verdict on each: `kept`, `cancel` (it is to stop),
-- `late` (past its time limit and grace), `waiting` (not claimed yet), `over` (ended, or owned by
-- another worker). An expired lease stays expired.
CREATE OR REPLACE FUNCTION dure_renew(
    p_worker text, p_executions uuid[], p_dispatches integer[], p_lease interval, p_grace interval
) RETURNS TABLE (execution uuid, dispatch integer, verdict text) LANGUAGE plpgsql
SET enable_seqscan = off AS $$
BEGIN
    -- A statement of its own: in one with the update, a plan could compare the leases with the clock before
    -- it has waited for the locks.
    PERFORM 1 FROM job_executions e
    WHERE e.id = ANY (p_executions) AND e.status || '' = 'RUNNING'
    ORDER BY e.id FOR NO KEY UPDATE;
    RETURN QUERY
    WITH held AS (
        SELECT u.execution, u.dispatch FROM unnest(p_executions, p_dispatches) AS u (execution, dispatch)
    ), renewed AS (
        UPDATE job_executions e SET locked_until = clock_timestamp() + p_lease
        FROM held h
        WHERE e.id = h.execution AND e.dispatch = h.dispatch AND e.worker = p_worker
          AND e.status || '' = 'RUNNING' AND e.locked_until > clock_timestamp()
        RETURNING e.id, e.cancel_requested_at, e.timeout_at
    )
    SELECT h.execution, h.dispatch, CASE
        WHEN r.cancel_requested_at IS NOT NULL THEN 'cancel'
        WHEN r.timeout_at < clock_timestamp() - p_grace THEN 'late'
        WHEN r.id IS NOT NULL THEN 'kept'
        WHEN e.status = 'PENDING' AND e.dispatch = h.dispatch THEN 'waiting'
        ELSE 'over' END
    FROM held h LEFT JOIN renewed r ON r.id = h.execution LEFT JOIN job_executions e ON e.id = h.execution;
END $$;


-- Makes ready what is due or waits for nothing in one office, then fills its slots: the safety net
-- behind every other way.
CREATE OR REPLACE FUNCTION dure_advance_office(p_office uuid, p_now timestamptz) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_now timestamptz;
    v_ready integer;
    o offices;
BEGIN
    SELECT * INTO o FROM offices WHERE id = p_office FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN '{"promoted": 0, "send": []}';
    END IF;
    v_now := coalesce(p_now, clock_timestamp());
    v_ready := dure_ready(p_office, ARRAY(
        SELECT id FROM job_queue
        WHERE office_id = p_office AND status IN ('pending', 'timeout')
          AND (due_at IS NULL OR due_at <= v_now)
    ), v_now);
    -- Due, but waiting for a dependency: its time is no longer what it waits for.
    UPDATE job_queue SET due_at = NULL, retry_at = NULL
    WHERE office_id = p_office AND status IN ('pending', 'timeout') AND due_at <= v_now;
    RETURN jsonb_build_object('promoted', v_ready)
        || dure_effects(o, v_now, dure_dispatch(o, v_now), '[]', o.has_webhooks);
END $$;


-- The jobs of one submission, in their order; `seq` grows along it. Those without dependencies that are not due
-- later are written as ready: to write them once saves a third of the time.
CREATE OR REPLACE FUNCTION dure_insert_jobs(
    p_office uuid, p_batch uuid, p_jobs jsonb, p_now timestamptz, p_execution uuid DEFAULT NULL
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO job_queue (
        id, office_id, batch_id, ref, task_id, args, role, priority, urgent, status, on_dependency_failure,
        dependency_count, timeout_ms, max_retries, retry_backoff, retry_base_delay_ms, retry_count, on_lost,
        trigger, run_at, due_at, unique_key, created_at, failure_type, error_message, ended_before,
        queue_timeout_ms, ready_at, queue_timeout_at, execution_id
    )
    SELECT j.id, p_office, p_batch, j.ref, j.task_id, j.args, j.role, j.priority, j.urgent,
           CASE
               WHEN p_execution IS NOT NULL THEN 'processing'
               WHEN r.ready_at IS NOT NULL THEN 'ready'
               ELSE 'pending'
           END, j.on_dependency_failure,
           j.dependency_count, j.timeout_ms, j.max_retries, j.retry_backoff, j.retry_base_delay_ms, 0,
           j.on_lost, j.trigger, j.run_at, r.due_at, j.unique_key, now(), '', '', false, j.queue_timeout_ms,
           r.ready_at, r.ready_at + j.queue_timeout_ms * interval '1 millisecond', p_execution
    FROM jsonb_to_recordset(p_jobs) AS j (
        id uuid, ref text, task_id text, args jsonb, role text, priority integer, urgent boolean,
        on_dependency_failure text, dependency_count integer, timeout_ms bigint, max_retries integer,
        retry_backoff text, retry_base_delay_ms bigint, on_lost text, trigger text, run_at timestamptz,
        unique_key text, queue_timeout_ms bigint, place integer
    )
    CROSS JOIN LATERAL (
        SELECT CASE WHEN is_due AND j.dependency_count = 0 THEN p_now END AS ready_at,
               CASE WHEN NOT is_due THEN j.run_at END AS due_at
        FROM coalesce(j.run_at <= p_now, true) AS is_due
    ) AS r
    ORDER BY j.place;
END $$;


-- A submission of one job, from its row to its message, in one call. `p_parents` are jobs of the office.
-- `p_execution` is the id of its Execution if it can start at once. `p_is_sent`: its message is out already, see
-- jobs/early_messages.py. `idle` in the answer: the office had no other job under way.
CREATE OR REPLACE FUNCTION dure_submit_one(
    p_office uuid, p_job jsonb, p_parents uuid[], p_execution uuid, p_is_sent boolean
) RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_id uuid := p_job ->> 'id';
    v_now timestamptz;
    v_used bigint;
    v_sends jsonb := '[]';
    o offices;
    q job_queue;
    e job_executions;
BEGIN
    IF p_is_sent THEN
        PERFORM dure_lock_early(p_execution);
    END IF;
    SELECT * INTO o FROM offices WHERE id = p_office FOR NO KEY UPDATE;
    v_now := clock_timestamp();
    IF cardinality(p_parents) > 0 THEN
        PERFORM dure_insert_jobs(p_office, NULL, jsonb_build_array(p_job), v_now);
        INSERT INTO job_dependencies (job_id, parent_id, position)
        SELECT v_id, parent, place - 1 FROM unnest(p_parents) WITH ORDINALITY AS p (parent, place);
        RETURN dure_submit(p_office, '{}', ARRAY[v_id]);
    END IF;
    IF (p_job ->> 'run_at')::timestamptz IS NULL THEN
        v_used := dure_slots_used_before(o, p_job ->> 'role', p_job ->> 'task_id', v_now);
    END IF;
    IF v_used IS NULL THEN
        PERFORM dure_insert_jobs(p_office, NULL, jsonb_build_array(p_job), v_now);
        RETURN dure_submit(p_office, ARRAY[v_id], '{}');
    END IF;
    PERFORM dure_insert_jobs(p_office, NULL, jsonb_build_array(p_job), v_now, p_execution);
    INSERT INTO job_events (office_id, job_id, type, details, at)
    VALUES (p_office, v_id, 'job_ready', '{}', v_now);
    SELECT * INTO q FROM job_queue WHERE id = v_id;
    e := dure_insert_execution(p_execution, q, '', NULL, v_now);
    IF NOT p_is_sent OR EXISTS (SELECT 1 FROM early_messages WHERE execution = p_execution) THEN
        v_sends := jsonb_build_array(jsonb_build_array(
            e.id, e.dispatch, e.role, e.task_id, dure_level((p_job ->> 'urgent')::boolean, v_used), e.retry_count
        ));
    END IF;
    RETURN dure_effects(o, v_now, v_sends, '[]', o.has_webhooks) || jsonb_build_object('idle', v_used = 0);
END $$;


-- dure_submit_one in a transaction of its own whose locks do not wait for the disk, only its answer does: see
-- dure_finish_and_commit.
CREATE OR REPLACE PROCEDURE dure_submit_one_and_commit(
    p_office uuid, p_job jsonb, p_parents uuid[], p_execution uuid, p_is_sent boolean, INOUT answer jsonb
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    answer := dure_submit_one(p_office, p_job, p_parents, p_execution, p_is_sent);
    COMMIT;
    PERFORM dure_flush();
END $$;


-- Fills the slots of offices in which jobs wait for a role that has got its first worker. `done` names the
-- offices whose lock was free.
CREATE OR REPLACE FUNCTION dure_dispatch_offices(p_offices uuid[]) RETURNS jsonb LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE
    v_sends jsonb := '[]';
    v_done uuid[] := '{}';
    o offices;
BEGIN
    FOR o IN
        SELECT * FROM offices WHERE id = ANY (p_offices) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        v_sends := v_sends || dure_dispatch(o, clock_timestamp());
        v_done := v_done || o.id;
    END LOOP;
    RETURN jsonb_build_object('done', to_jsonb(v_done), 'send', v_sends);
END $$;


-- processing → ready, for jobs whose unclaimed Executions the caller has locked.
CREATE OR REPLACE FUNCTION dure_return(p_office uuid, p_jobs uuid[], p_now timestamptz) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    v_count integer;
BEGIN
    UPDATE job_executions SET dispatched_at = NULL WHERE job_id = ANY (p_jobs) AND status = 'PENDING';
    WITH returned AS (
        UPDATE job_queue SET status = 'ready' WHERE id = ANY (p_jobs) AND status = 'processing'
        RETURNING id, batch_id, seq
    ), logged AS (
        INSERT INTO job_events (office_id, job_id, batch_id, type, details, at)
        SELECT p_office, id, batch_id, 'job_ready', '{"unclaimed": true}', p_now FROM returned ORDER BY seq
        RETURNING 1
    )
    SELECT count(*) INTO v_count FROM logged;
    RETURN v_count;
END $$;


-- processing → ready, for jobs of an office that no worker has claimed for `p_after` since they were sent:
-- always if no worker serves their role, else as far as jobs of other roles can use their slots. Those of a
-- paused role do not wait so long. The late message finds nothing to claim. A run that was lost keeps its
-- slot: it is to start again before others.
CREATE OR REPLACE FUNCTION dure_return_unclaimed(p_office uuid, p_after interval) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_now timestamptz;
    v_unserved uuid[];
    v_late uuid[];
    v_sends jsonb;
    v_over bigint;
    v_count integer;
    o offices;
BEGIN
    SELECT * INTO o FROM offices WHERE id = p_office FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN '{"returned": 0}';
    END IF;
    v_now := clock_timestamp();
    -- Locked until the commit, so that none of them is claimed meanwhile; one that is claimed now is left.
    WITH unclaimed AS (
        SELECT e.job_id, e.role, e.crash_count FROM job_executions e
        JOIN job_queue q ON q.execution_id = e.id
        WHERE q.office_id = p_office AND q.status = 'processing'
          AND e.status = 'PENDING' AND e.dispatched_at IS NOT NULL
          AND (
              e.dispatched_at < v_now - p_after
              OR EXISTS (SELECT 1 FROM paused_roles p WHERE p.role = e.role)
          )
        FOR NO KEY UPDATE OF e SKIP LOCKED
    )
    SELECT array_agg(u.job_id) FILTER (WHERE s.role IS NULL),
           array_agg(u.job_id) FILTER (WHERE s.role IS NOT NULL AND u.crash_count = 0)
    INTO v_unserved, v_late
    FROM unclaimed u LEFT JOIN served_roles s ON s.role = u.role AND s.until > v_now
      AND NOT EXISTS (SELECT 1 FROM paused_roles p WHERE p.role = u.role);
    v_count := dure_return(p_office, v_unserved, v_now);
    SELECT sends INTO v_sends FROM dure_dispatch_and_claim(o, v_now, coalesce(v_late, '{}'), NULL);
    SELECT count(*) - o.max_concurrent_jobs INTO v_over FROM job_queue
    WHERE office_id = p_office AND status = 'processing';
    IF v_over > 0 THEN
        v_count := v_count + dure_return(p_office, ARRAY(
            SELECT id FROM job_queue WHERE id = ANY (v_late)
            ORDER BY urgent, priority DESC, seq DESC LIMIT v_over
        ), v_now);
    END IF;
    RETURN jsonb_build_object('returned', v_count)
        || dure_effects(o, v_now, v_sends, '[]', o.has_webhooks);
END $$;


-- Fails the jobs of an office that have not started within their queue timeout. Those that have started
-- are past it for good.
CREATE OR REPLACE FUNCTION dure_fail_overdue(p_office uuid, p_now timestamptz) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_now timestamptz;
    v_overdue uuid[];
    v_started uuid[];
    v_parts jsonb := '[]';
    o offices;
BEGIN
    SELECT * INTO o FROM offices WHERE id = p_office FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN '{"failed": 0}';
    END IF;
    v_now := coalesce(p_now, clock_timestamp());
    -- The Executions first: a claim that is under way holds its row, and is seen as RUNNING after it.
    PERFORM 1 FROM job_executions e JOIN job_queue q ON q.execution_id = e.id
    WHERE q.office_id = p_office AND q.status IN ('ready', 'processing') AND q.queue_timeout_at <= v_now
    ORDER BY e.id FOR NO KEY UPDATE OF e;
    SELECT array_agg(q.id) FILTER (WHERE e.started), array_agg(q.id) FILTER (WHERE NOT e.started)
    INTO v_started, v_overdue
    FROM job_queue q CROSS JOIN LATERAL (
        SELECT EXISTS (
            SELECT 1 FROM job_executions x
            WHERE x.id = q.execution_id AND (x.status <> 'PENDING' OR x.attempt_started_at >= q.ready_at)
        ) AS started
    ) AS e
    WHERE q.office_id = p_office AND q.status IN ('ready', 'processing') AND q.queue_timeout_at <= v_now;
    UPDATE job_queue SET queue_timeout_at = NULL WHERE id = ANY (v_started);
    IF v_overdue IS NULL THEN
        RETURN '{"failed": 0}';
    END IF;
    UPDATE job_executions e
    SET status = 'FAILED', finished_at = v_now, due_at = NULL, failure_type = 'timeout',
        error = dure_queue_timeout_error(q.queue_timeout_ms)
    FROM job_queue q
    WHERE q.id = ANY (v_overdue) AND e.id = q.execution_id AND e.status = 'PENDING';
    WITH failed AS (
        UPDATE job_queue
        SET status = 'failed', completed_at = v_now, failure_type = 'timeout', queue_timeout_at = NULL,
            error_message = dure_queue_timeout_error(queue_timeout_ms), due_at = NULL, retry_at = NULL
        WHERE id = ANY (v_overdue)
        RETURNING id, batch_id, seq, execution_id, error_message
    )
    INSERT INTO job_events (office_id, job_id, batch_id, type, details, at)
    SELECT p_office, f.id, f.batch_id, t.type, jsonb_strip_nulls(jsonb_build_object(
        'execution_id', f.execution_id, 'failure_type', 'timeout', 'error', f.error_message
    )), v_now
    FROM failed f CROSS JOIN unnest(ARRAY['job_timeout', 'job_failed']) WITH ORDINALITY AS t (type, place)
    ORDER BY f.seq, t.place;
    v_parts := dure_after_end(p_office, v_overdue, v_overdue, true, v_now);
    RETURN jsonb_build_object('failed', cardinality(v_overdue))
        || dure_effects(o, v_now, dure_dispatch(o, v_now), v_parts, true);
END $$;


CREATE OR REPLACE FUNCTION dure_queue_timeout_error(p_ms bigint) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT format('It had not started within its queue timeout of %s ms.', p_ms)
$$;


-- The end of a submission, under the office's lock: the events of what was ready at once (of `p_roots`), what
-- starts in its free slots, and `p_joined`: the new jobs with a dependency that the office had before, which may
-- have ended, or failed, by now.
CREATE OR REPLACE FUNCTION dure_submit(p_office uuid, p_roots uuid[], p_joined uuid[]) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_failed uuid[];
    v_parts jsonb := '[]';
    o offices;
BEGIN
    SELECT * INTO o FROM offices WHERE id = p_office;
    INSERT INTO job_events (office_id, job_id, batch_id, type, details, at)
    SELECT p_office, id, batch_id, 'job_ready', '{}', ready_at FROM job_queue
    WHERE id = ANY (p_roots) AND status || '' = 'ready' ORDER BY seq;
    IF cardinality(p_joined) > 0 THEN
        SELECT array_agg(DISTINCT d.parent_id) INTO v_failed
        FROM job_dependencies d
        CROSS JOIN LATERAL (SELECT status FROM job_queue WHERE id = d.parent_id OFFSET 0) AS p
        WHERE d.job_id = ANY (p_joined) AND p.status IN ('failed', 'cancelled');
        IF v_failed IS NOT NULL THEN
            -- They ended before: only what fails with them ends now.
            v_parts := dure_after_end(p_office, '{}', v_failed, true, v_now);
        END IF;
        PERFORM dure_ready(p_office, p_joined, v_now);
        -- The parts of joins whose other dependencies are still to come.
        SELECT v_parts || coalesce(
            jsonb_agg(dure_part(c.id, c.role, c.task_id, c.urgent, d.parent_id, d.position)), '[]'
        ) INTO v_parts
        FROM job_dependencies d
        CROSS JOIN LATERAL (SELECT status FROM job_queue WHERE id = d.parent_id OFFSET 0) AS p
        CROSS JOIN LATERAL (SELECT * FROM job_queue WHERE id = d.job_id OFFSET 0) AS c
        WHERE d.job_id = ANY (p_joined) AND c.status = 'pending' AND c.dependency_count > 1
          AND (
              p.status = 'done'
              OR (c.on_dependency_failure = 'run' AND p.status IN ('failed', 'cancelled'))
          );
    END IF;
    RETURN dure_effects(o, v_now, dure_dispatch(o, v_now), v_parts, o.has_webhooks);
END $$;


-- Cancels jobs of an office in any live state: what waits, at once; what was sent and not yet claimed,
-- at once (its message will find nothing); what runs is asked to stop and keeps its slot.
CREATE OR REPLACE FUNCTION dure_cancel(p_office uuid, p_jobs uuid[], p_details jsonb) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_ended uuid[];
    v_stop uuid[];
    v_stopping uuid[];
    v_parts jsonb := '[]';
    o offices;
BEGIN
    SELECT * INTO o FROM offices WHERE id = p_office;
    -- The Executions first: a claim that is under way holds its row, and is seen as RUNNING after it.
    WITH locked AS (
        SELECT e.id, e.status, e.cancel_requested_at IS NULL AS is_first FROM job_executions e
        WHERE e.job_id = ANY (p_jobs) AND e.office_id = p_office AND e.status IN ('PENDING', 'RUNNING')
        ORDER BY e.id FOR NO KEY UPDATE
    ), stopped AS (
        UPDATE job_executions e
        SET status = 'CANCELLED', finished_at = v_now, failure_type = 'cancelled', due_at = NULL,
            cancel_requested_at = v_now
        FROM locked l WHERE e.id = l.id AND l.status = 'PENDING'
    ), asked_to_stop AS (
        UPDATE job_executions e SET cancel_requested_at = coalesce(e.cancel_requested_at, v_now)
        FROM locked l WHERE e.id = l.id AND l.status = 'RUNNING'
        RETURNING e.id, e.job_id, l.is_first
    ), logged AS (
        -- The run's end says that it was cancelled, and only this says by whom.
        INSERT INTO job_events (office_id, job_id, batch_id, type, details, at)
        SELECT p_office, j.id, j.batch_id, 'job_cancel_requested', p_details, v_now
        FROM asked_to_stop a JOIN job_queue j ON j.id = a.job_id WHERE a.is_first ORDER BY j.seq
    )
    SELECT array_agg(id), array_agg(job_id) INTO v_stop, v_stopping FROM asked_to_stop;

    UPDATE job_queue SET cancelled_at = coalesce(cancelled_at, v_now) WHERE id = ANY (v_stopping);

    WITH ended AS (
        UPDATE job_queue
        SET status = 'cancelled', cancelled_at = v_now, completed_at = v_now, failure_type = 'cancelled',
            error_message = '', due_at = NULL, retry_at = NULL
        WHERE id = ANY (p_jobs) AND office_id IS NOT DISTINCT FROM p_office
          AND status || '' IN ('pending', 'timeout', 'ready', 'processing') AND cancelled_at IS NULL
        RETURNING id, batch_id, seq
    ), logged AS (
        INSERT INTO job_events (office_id, job_id, batch_id, type, details, at)
        SELECT p_office, id, batch_id, 'job_cancelled', p_details, v_now FROM ended ORDER BY seq
    )
    SELECT array_agg(id) INTO v_ended FROM ended;
    IF v_ended IS NOT NULL THEN
        v_parts := dure_after_end(p_office, v_ended, v_ended, true, v_now);
    END IF;
    RETURN jsonb_build_object(
        'cancelled', coalesce(cardinality(v_ended), 0),
        'cancelling', coalesce(cardinality(v_stop), 0),
        'stop', to_jsonb(coalesce(v_stop, '{}'))
    ) || dure_effects(o, v_now, dure_dispatch(o, v_now), v_parts, o.has_webhooks);
END $$;


-- Runs jobs again by hand: each gets a new Execution, and its counts start anew. `blocked` names those
-- that would fail again at once: jobs with the policy `fail` and a dependency that is failed or cancelled,
-- and not retried here too; and those that depend on them with that policy.
CREATE OR REPLACE FUNCTION dure_retry(p_office uuid, p_jobs uuid[], p_details jsonb) RETURNS jsonb
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_jobs uuid[];
    v_blocked uuid[];
    o offices;
BEGIN
    SELECT * INTO o FROM offices WHERE id = p_office;
    WITH RECURSIVE chosen AS MATERIALIZED (
        SELECT id, on_dependency_failure = 'fail' AS fails FROM job_queue
        WHERE id = ANY (p_jobs) AND office_id IS NOT DISTINCT FROM p_office
          AND status || '' IN ('failed', 'cancelled', 'timeout')
    ), blocked AS (
        SELECT c.id FROM chosen c
        WHERE c.fails AND EXISTS (
            SELECT 1 FROM job_dependencies d JOIN job_queue p ON p.id = d.parent_id
            WHERE d.job_id = c.id AND p.status || '' IN ('failed', 'cancelled')
              AND p.id NOT IN (SELECT id FROM chosen)
        )
        UNION
        SELECT c.id FROM blocked b
        JOIN job_dependencies d ON d.parent_id = b.id
        JOIN chosen c ON c.id = d.job_id AND c.fails
    )
    SELECT array_agg(c.id) FILTER (WHERE b.id IS NULL), array_agg(c.id) FILTER (WHERE b.id IS NOT NULL)
    INTO v_jobs, v_blocked
    FROM chosen c LEFT JOIN blocked b ON b.id = c.id;
    UPDATE job_executions
    SET status = 'CANCELLED', finished_at = v_now, due_at = NULL, failure_type = 'cancelled',
        error = 'Replaced by a retry by hand.'
    WHERE job_id = ANY (v_jobs) AND status = 'PENDING' AND dispatched_at IS NULL
      AND EXISTS (
          SELECT 1 FROM job_queue q
          WHERE q.id = job_id AND q.office_id = p_office AND q.status = 'timeout'
      );
    WITH retried AS (
        UPDATE job_queue
        SET status = 'pending', completed_at = NULL, cancelled_at = NULL, started_at = NULL,
            retry_count = 0, retry_at = NULL, due_at = NULL, failure_type = '', error_message = '',
            execution_id = NULL,
            ended_before = ended_before OR status <> 'timeout'
        WHERE id = ANY (v_jobs)
        RETURNING id, batch_id, seq
    ), reopened AS (
        UPDATE job_batches SET ended_at = NULL
        WHERE id IN (SELECT batch_id FROM retried) AND ended_at IS NOT NULL
    ), logged AS (
        INSERT INTO job_events (office_id, job_id, batch_id, type, details, at)
        SELECT p_office, id, batch_id, 'job_retrying', p_details || '{"by_hand": true}', v_now
        FROM retried ORDER BY seq
    )
    SELECT array_agg(id) INTO v_jobs FROM retried;
    IF v_jobs IS NOT NULL THEN
        PERFORM dure_ready(p_office, v_jobs, v_now);
    END IF;
    RETURN jsonb_build_object(
        'retried', coalesce(cardinality(v_jobs), 0), 'blocked', to_jsonb(coalesce(v_blocked, '{}'))
    )
        || dure_effects(o, v_now, dure_dispatch(o, v_now), '[]', o.has_webhooks);
END $$;


-- What a worker says of itself with each heartbeat. Returns the roles that had no worker before: jobs may
-- wait for them.
CREATE OR REPLACE FUNCTION dure_register_worker(
    p_name text, p_roles text[], p_slots integer, p_running integer, p_draining boolean,
    p_started_at timestamptz, p_lease interval
) RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_roles text[] := CASE WHEN p_draining THEN '{}' ELSE p_roles END;
    v_new jsonb;
BEGIN
    PERFORM dure_unserve(p_name, v_roles, p_lease);
    INSERT INTO workers AS w (name, roles, slots, running, draining, started_at, seen_at)
    VALUES (p_name, to_jsonb(p_roles), p_slots, p_running, p_draining, p_started_at, v_now)
    ON CONFLICT (name) DO UPDATE SET roles = EXCLUDED.roles, slots = EXCLUDED.slots,
        running = EXCLUDED.running, draining = EXCLUDED.draining,
        started_at = EXCLUDED.started_at, seen_at = EXCLUDED.seen_at;
    SELECT jsonb_agg(r.role) INTO v_new
    FROM unnest(v_roles) AS r (role) LEFT JOIN served_roles s ON s.role = r.role AND s.until > v_now
    WHERE s.role IS NULL;
    -- Workers of one role share its row: one that another has just renewed is left.
    INSERT INTO served_roles AS s (role, until)
    SELECT r.role, v_now + p_lease FROM unnest(v_roles) AS r (role) ORDER BY r.role
    ON CONFLICT (role) DO UPDATE SET until = EXCLUDED.until
    WHERE s.until < EXCLUDED.until - p_lease / 10;
    RETURN coalesce(v_new, '[]');
END $$;


CREATE OR REPLACE FUNCTION dure_deregister_worker(p_name text, p_lease interval) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    PERFORM dure_unserve(p_name, '{}', p_lease);
    DELETE FROM workers WHERE name = p_name;
END $$;


-- Of the roles that this worker served and does not any more: until when their other workers serve them.
CREATE OR REPLACE FUNCTION dure_unserve(p_name text, p_roles text[], p_lease interval) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_former text[];
BEGIN
    SELECT array_agg(r.role) INTO v_former
    FROM workers w CROSS JOIN jsonb_array_elements_text(w.roles) AS r (role)
    WHERE w.name = p_name AND NOT w.draining AND r.role <> ALL (p_roles);
    IF v_former IS NULL THEN
        RETURN;
    END IF;
    -- In the order in which registrations write them.
    PERFORM 1 FROM served_roles WHERE role = ANY (v_former || p_roles) ORDER BY role FOR UPDATE;
    UPDATE served_roles s SET until = coalesce((
        SELECT max(w.seen_at) + p_lease FROM workers w
        WHERE w.name <> p_name AND NOT w.draining AND w.roles ? s.role
    ), clock_timestamp())
    WHERE s.role = ANY (v_former);
END $$;


-- An end is final, whatever writes. The triggers have no WHEN, and the checks below are functions:
-- PostgreSQL parses what it keeps as text again for every write.
CREATE OR REPLACE FUNCTION dure_refuse_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status <> OLD.status
       AND (OLD.status IN ('SUCCESS', 'FAILED', 'CANCELLED') OR OLD.status = 'done') THEN
        RAISE EXCEPTION '% % has ended as %: it cannot become %',
            TG_TABLE_NAME, OLD.id, OLD.status, NEW.status
            USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER execution_ends_are_final BEFORE UPDATE OF status ON job_executions FOR EACH ROW
    EXECUTE FUNCTION dure_refuse_transition();
CREATE OR REPLACE TRIGGER job_done_is_final BEFORE UPDATE OF status ON job_queue FOR EACH ROW
    EXECUTE FUNCTION dure_refuse_transition();


CREATE OR REPLACE FUNCTION dure_job_is_whole(status text, completed_at timestamptz, execution_id uuid)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (completed_at IS NOT NULL) = (status IN ('done', 'failed', 'cancelled'))
       AND (status <> 'processing' OR execution_id IS NOT NULL);
END $$;


CREATE OR REPLACE FUNCTION dure_execution_is_whole(
    status text, locked_until timestamptz, finished_at timestamptz, trigger text, job_id uuid
) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (locked_until IS NOT NULL) = (status = 'RUNNING')
       AND (finished_at IS NOT NULL) = (status NOT IN ('PENDING', 'RUNNING'))
       AND (job_id IS NOT NULL) = (trigger IN ('JOB', 'WORKFLOW'));
END $$;
