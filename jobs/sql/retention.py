"""Deletes what ended long ago. Each statement takes one bounded batch, and says how many rows it was."""

# The offices and states with old jobs, by the index jobs_ended.
OLD_JOBS = """
    SELECT o.id, s.status FROM offices o CROSS JOIN unnest(%(statuses)s) AS s (status)
    CROSS JOIN LATERAL (
        SELECT 1 FROM job_queue
        WHERE office_id = o.id AND status = s.status AND completed_at < %(before)s
        ORDER BY completed_at LIMIT 1
    ) AS old
"""

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

# Offers of workers that are gone, except the last one of each name: it says when a worker had that.
DELETE_OFFERS = """
    WITH seen AS (
        SELECT o.id, o.kind, o.name, coalesce(w.seen_at, o.seen_at) AS at
        FROM catalogue_offers o LEFT JOIN workers w ON w.name = o.worker
    )
    DELETE FROM catalogue_offers WHERE id IN (
        SELECT s.id FROM seen s
        WHERE s.at < %(before)s AND EXISTS (
            SELECT 1 FROM seen newer WHERE newer.kind = s.kind AND newer.name = s.name AND newer.at > s.at
        )
        LIMIT %(limit)s)
"""

# Versions that another one has replaced and nobody offers.
DELETE_ENTRIES = """
    DELETE FROM catalogue_entries old
    WHERE old.registered_at < %(before)s AND old.digest IN (
        SELECT e.digest FROM catalogue_entries e
        WHERE e.registered_at < %(before)s
          AND NOT EXISTS (SELECT 1 FROM catalogue_offers o WHERE o.entry_id = e.digest)
          AND EXISTS (
              SELECT 1 FROM catalogue_entries newer
              WHERE newer.kind = e.kind AND newer.name = e.name AND newer.registered_at > e.registered_at
          )
        LIMIT %(limit)s)
"""

# Deleted webhooks that nobody can restore any more, and before them their notifications.
DELETE_NOTIFICATIONS_OF_DELETED = """
    DELETE FROM notifications WHERE id IN (
        SELECT n.id FROM notifications n JOIN office_webhooks w ON w.id = n.webhook_id
        WHERE w.deleted_at < %(before)s LIMIT %(limit)s FOR UPDATE OF n SKIP LOCKED)
"""
DELETE_WEBHOOKS = """
    DELETE FROM office_webhooks WHERE id IN (
        SELECT w.id FROM office_webhooks w
        WHERE w.deleted_at < %(before)s
          AND NOT EXISTS (SELECT 1 FROM notifications n WHERE n.webhook_id = w.id)
        LIMIT %(limit)s FOR UPDATE OF w SKIP LOCKED)
"""
