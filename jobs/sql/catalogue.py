"""The catalogue of what workers offer: workers write it, all others read it."""

# write: the versions that are new, or that another one has replaced since, and the worker's offers. It
# changes nothing if the worker wrote the same before.
WRITE_CATALOGUE = """
    WITH given AS (
        SELECT * FROM jsonb_to_recordset(%(entries)s::jsonb) AS g (
            digest text, kind text, name text, definition text, module text, code_digest text, package text,
            version text
        )
    ), entries AS (
        INSERT INTO catalogue_entries AS e (
            digest, kind, name, definition, module, code_digest, package, version, registered_at
        )
        SELECT g.digest, g.kind, g.name, g.definition, g.module, g.code_digest, g.package, g.version,
               clock_timestamp()
        FROM given g ORDER BY g.digest
        ON CONFLICT (digest) DO UPDATE SET registered_at = EXCLUDED.registered_at
        WHERE EXISTS (
            SELECT 1 FROM catalogue_entries newer
            WHERE newer.kind = e.kind AND newer.name = e.name AND newer.registered_at > e.registered_at
        )
        RETURNING 1
    ), offers AS (
        INSERT INTO catalogue_offers AS o (worker, entry_id, kind, name, seen_at)
        SELECT %(worker)s, g.digest, g.kind, g.name, clock_timestamp() FROM given g ORDER BY g.kind, g.name
        ON CONFLICT (worker, kind, name)
        DO UPDATE SET entry_id = EXCLUDED.entry_id, seen_at = EXCLUDED.seen_at
        WHERE o.entry_id <> EXCLUDED.entry_id
        RETURNING 1
    ), withdrawn AS (
        DELETE FROM catalogue_offers o
        WHERE o.worker = %(worker)s
          AND NOT EXISTS (SELECT 1 FROM given g WHERE g.kind = o.kind AND g.name = o.name)
        RETURNING 1
    )
    SELECT (SELECT count(*) FROM entries) + (SELECT count(*) FROM offers) + (SELECT count(*) FROM withdrawn)
"""

# write: the limits of its Tasks. The worker that registers last is right.
LIMIT_TASKS = """
    SELECT dure_limit_task(t.task_id, t.exclusive, t.max_starts, t.seconds * interval '1 second')
    FROM (
        SELECT * FROM jsonb_to_recordset(%(tasks)s::jsonb) AS t (
            task_id text, exclusive boolean, max_starts integer, seconds integer
        ) ORDER BY task_id
    ) AS t
"""

# deregister: from now on its offers alone know when it was last heard of.
LEAVE_CATALOGUE = "UPDATE catalogue_offers SET seen_at = clock_timestamp() WHERE worker = %s"

# read: the version in force of each entry.
CURRENT_ENTRIES = """
    SELECT DISTINCT ON (e.kind, e.name) e.digest, e.kind, e.name
    FROM catalogue_entries e
    ORDER BY e.kind, e.name, EXISTS (
        SELECT 1 FROM catalogue_offers o JOIN workers w ON w.name = o.worker
        WHERE o.entry_id = e.digest AND w.seen_at > now() - %(lease)s * interval '1 second'
    ) DESC, e.registered_at DESC, e.digest
"""
DEFINITIONS = "SELECT digest, definition FROM catalogue_entries WHERE digest = ANY (%s)"

# insight: the offers of some Tasks, and whether a worker serves the role that their runs have.
OFFERS = """
    SELECT t.name, EXISTS (SELECT 1 FROM served_roles s WHERE s.role = t.role AND s.until > now()),
           o.worker, coalesce(w.seen_at, o.seen_at), coalesce(w.seen_at > l.since, false),
           coalesce(w.seen_at > l.since AND NOT w.draining AND w.roles ? t.role, false),
           e.digest, e.definition::jsonb -> 'schema',
           jsonb_build_array(
               coalesce(e.definition::jsonb -> 'exclusive', 'false'), e.definition::jsonb ->> 'rate_limit'
           ),
           e.package, e.version, e.code_digest
    FROM unnest(%(names)s::text[], %(roles)s::text[]) AS t (name, role)
    CROSS JOIN (SELECT now() - %(lease)s * interval '1 second' AS since) AS l
    LEFT JOIN catalogue_offers o ON o.kind = %(kind)s AND o.name = t.name
    LEFT JOIN catalogue_entries e ON e.digest = o.entry_id
    LEFT JOIN workers w ON w.name = o.worker
    ORDER BY t.name, o.worker
"""

# doctor: Tasks of which online workers have different schemas.
DIFFERENT_SCHEMAS = """
    SELECT o.name FROM catalogue_offers o
    JOIN catalogue_entries e ON e.digest = o.entry_id
    JOIN workers w ON w.name = o.worker AND w.seen_at > now() - %(lease)s * interval '1 second'
    WHERE o.kind = %(kind)s
    GROUP BY o.name HAVING count(DISTINCT e.definition::jsonb -> 'schema') > 1
    ORDER BY o.name
"""
# doctor: Tasks of which online workers have different limits.
DIFFERENT_LIMITS = """
    SELECT o.name FROM catalogue_offers o
    JOIN catalogue_entries e ON e.digest = o.entry_id
    JOIN workers w ON w.name = o.worker AND w.seen_at > now() - %(lease)s * interval '1 second'
    WHERE o.kind = %(kind)s
    GROUP BY o.name HAVING count(DISTINCT jsonb_build_array(
        coalesce(e.definition::jsonb -> 'exclusive', 'false'), e.definition::jsonb ->> 'rate_limit'
    )) > 1
    ORDER BY o.name
"""
# doctor: Tasks of a role, and the workers of the role that lack them while others have them.
LACKING_WORKERS = """
    WITH online AS (
        SELECT name, roles FROM workers
        WHERE seen_at > now() - %(lease)s * interval '1 second' AND NOT draining
    ), offered AS (
        SELECT DISTINCT o.name, e.definition::jsonb ->> 'role' AS role
        FROM catalogue_offers o
        JOIN catalogue_entries e ON e.digest = o.entry_id
        JOIN online w ON w.name = o.worker AND w.roles ? (e.definition::jsonb ->> 'role')
        WHERE o.kind = %(kind)s
    )
    SELECT t.name, w.name FROM offered t JOIN online w ON w.roles ? t.role
    WHERE NOT EXISTS (
        SELECT 1 FROM catalogue_offers o WHERE o.worker = w.name AND o.kind = %(kind)s AND o.name = t.name
    )
    ORDER BY t.name, w.name
"""
