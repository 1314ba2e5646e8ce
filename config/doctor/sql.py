"""What the doctor asks PostgreSQL, by name, with its purpose. Each only reads."""

# postgresql: a question that takes longer is not worth waiting for.
BE_QUICK = "SET statement_timeout = '4s'"
# postgresql: whose process answers, and what time it has.
OWN_PROCESS = "SELECT pg_backend_pid()"
ITS_TIME = "SELECT extract(epoch FROM clock_timestamp())::float"

# schema: the functions that migrations have made.
FUNCTIONS = "SELECT DISTINCT proname FROM pg_proc WHERE proname ^@ 'dure_'"

# keeping: settings of the server, tables with the most dead rows, who is connected.
SETTINGS = "SELECT name, setting FROM pg_settings WHERE name = ANY (%s)"
DEAD_ROWS = """
    SELECT relname, n_live_tup, n_dead_tup FROM pg_stat_user_tables ORDER BY n_dead_tup DESC LIMIT 5
"""
CLIENTS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
# keeping: each slot of a worker keeps a connection, and its main process one more.
SLOTS = "SELECT coalesce(sum(slots + 1), 0) FROM workers WHERE seen_at > now() - interval '1 hour'"

# workers: those whose heartbeat is younger than a lease.
ALIVE = """
    SELECT name, draining FROM workers WHERE seen_at > now() - %s * interval '1 second' ORDER BY name
"""

# upkeep: the session that holds beat's lock; a bigint lock is kept as its two halves.
LEADER = """
    SELECT extract(epoch FROM now() - a.backend_start)::float
    FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND (l.classid::bigint << 32 | l.objid::bigint) = %s
"""
# upkeep: messages that wait to go out, and notices that should have gone out a while ago.
OUTBOX = """
    SELECT count(*), coalesce(extract(epoch FROM now() - min(created_at)), 0)::float FROM stream_outbox
"""
LATE_NOTICES = """
    SELECT count(*), coalesce(extract(epoch FROM now() - min(next_at)), 0)::float
    FROM notices WHERE next_at < now()
"""
