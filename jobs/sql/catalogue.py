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
