"""Deletes what ended long ago. Each statement takes one bounded batch, and says how many rows it was."""

# Ended jobs of one office and state, by the index jobs_ended; not those that another job waits for.
DELETE_JOBS = """
    WITH old AS (
        SELECT j.id FROM job_queue j
        WHERE j.office_id = %(office)s AND j.status = %(status)s AND j.completed_at < %(before)s
          AND NOT EXISTS (
              SELECT 1 FROM job_dependencies d JOIN job_queue c ON c.id = d.job_id
              WHERE d.parent_id = j.id AND c.completed_at IS NULL
          )
        ORDER BY j.completed_at LIMIT %(limit)s FOR UPDATE OF j SKIP LOCKED
    ), runs AS (
        DELETE FROM job_executions e USING old WHERE e.job_id = old.id RETURNING e.id
    ), tries AS (
        DELETE FROM job_attempts a USING runs WHERE a.execution_id = runs.id
    ), logs AS (
        DELETE FROM run_logs l USING runs WHERE l.execution_id = runs.id
    ), edges_in AS (
        DELETE FROM job_dependencies d USING old WHERE d.job_id = old.id
    ), edges_out AS (
        DELETE FROM job_dependencies d USING old
        WHERE d.parent_id = old.id AND d.job_id NOT IN (SELECT id FROM old)
    )
    DELETE FROM job_queue j USING old WHERE j.id = old.id
"""

DELETE_BATCHES = """
    DELETE FROM job_batches WHERE id IN (
        SELECT b.id FROM job_batches b
        WHERE b.ended_at < %(before)s AND NOT EXISTS (SELECT 1 FROM job_queue j WHERE j.batch_id = b.id)
        LIMIT %(limit)s)
"""

# Oldest first, by their ids, so that the server can tell a client that it resumes after a deleted id.
DELETE_EVENTS = """
    DELETE FROM job_events
    WHERE at < %(before)s AND id IN (SELECT id FROM job_events ORDER BY id LIMIT %(limit)s)
"""

# Executions that no job owns.
DELETE_EXECUTIONS = """
    WITH old AS (
        SELECT id FROM job_executions WHERE finished_at < %(before)s AND job_id IS NULL
        ORDER BY finished_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
    ), tries AS (
        DELETE FROM job_attempts a USING old WHERE a.execution_id = old.id
    ), logs AS (
        DELETE FROM run_logs l USING old WHERE l.execution_id = old.id
    )
    DELETE FROM job_executions e USING old WHERE e.id = old.id
"""
