"""SQL of the notifications that an office's webhooks and mail addresses receive."""

# create_from_events: where an office's cursor begins. Events older than an hour are history then.
CREATE_CURSOR = """
    INSERT INTO event_cursors (office_id, event_id)
    SELECT o.id, coalesce((
        SELECT e.id FROM job_events e
        WHERE e.office_id = o.id AND e.at < clock_timestamp() - interval '1 hour'
        ORDER BY e.id DESC LIMIT 1
    ), 0)
    FROM offices o WHERE o.id = %(office)s
    ON CONFLICT (office_id) DO NOTHING
"""

# sweep: offices that have a receiver, and an event after their cursor.
OFFICES_BEHIND = """
    SELECT o.id FROM offices o LEFT JOIN event_cursors c ON c.office_id = o.id
    WHERE (o.has_webhooks OR o.notify_emails <> '[]'::jsonb)
      AND EXISTS (SELECT 1 FROM job_events e WHERE e.office_id = o.id AND e.id > coalesce(c.event_id, 0))
"""

# The database's clock, unless the caller gives a time.
NOW = "SELECT coalesce(%s::timestamptz, clock_timestamp())"

# claim: some due notifications of each of a few webhooks, oldest first. Moving `next_at` ahead keeps other
# senders away; a crash after this only delays.
CLAIM_FOR_WEBHOOKS = """
    WITH waiting AS (
        SELECT n.webhook_id, min(n.next_at) AS since
        FROM notifications n JOIN office_webhooks w ON w.id = n.webhook_id
        WHERE n.next_at <= %(now)s AND NOT n.webhook_id = ANY (%(busy)s::bigint[])
          AND (w.paused_until IS NULL OR w.paused_until <= %(now)s)
        GROUP BY n.webhook_id ORDER BY since LIMIT %(limit)s
    ), picked AS (
        SELECT n.id FROM waiting CROSS JOIN LATERAL (
            SELECT id FROM notifications
            WHERE webhook_id = waiting.webhook_id AND next_at IS NOT NULL AND next_at <= %(now)s
            ORDER BY id LIMIT %(batch_size)s FOR NO KEY UPDATE SKIP LOCKED
        ) AS n
    )
    UPDATE notifications SET next_at = %(now)s + %(hold)s, attempts = attempts + 1
    FROM picked WHERE notifications.id = picked.id
    RETURNING notifications.webhook_id, notifications.id, notifications.attempts, notifications.body
"""

# claim: addresses with due mail. Each is then claimed separately, under its office's cursor.
DUE_ADDRESSES = """
    SELECT office_id, address FROM notifications
    WHERE next_at <= %(now)s AND webhook_id IS NULL
    GROUP BY office_id, address ORDER BY min(next_at) LIMIT %(limit)s
"""

# claim: everything due for one address, for one mail.
CLAIM_FOR_ADDRESS = """
    UPDATE notifications SET next_at = %(now)s + %(hold)s, attempts = attempts + 1
    WHERE office_id = %(office)s AND address = %(address)s AND webhook_id IS NULL AND next_at <= %(now)s
    RETURNING id, attempts
"""

# record: each is guarded by the attempt that it reports, since a later attempt may exist already.
MARK_SENT = """
    UPDATE notifications SET sent_at = %(now)s, next_at = NULL, answer = %(answer)s
    WHERE id = ANY (%(ids)s) AND attempts = %(attempt)s AND next_at IS NOT NULL
"""
RETRY = """
    UPDATE notifications SET next_at = %(next)s, answer = %(answer)s
    WHERE id = ANY (%(ids)s) AND attempts = %(attempt)s AND next_at IS NOT NULL
"""
GIVE_UP = """
    UPDATE notifications SET gave_up_at = %(now)s, next_at = NULL, answer = %(answer)s
    WHERE id = ANY (%(ids)s) AND attempts = %(attempt)s AND next_at IS NOT NULL
"""
RELEASE = """
    UPDATE notifications SET next_at = %(now)s, attempts = attempts - 1
    WHERE id = ANY (%(ids)s) AND attempts = %(attempt)s AND next_at IS NOT NULL
"""

# record: a webhook that does not answer pauses; its due notifications wait.
PAUSE_WEBHOOK = "UPDATE office_webhooks SET paused_until = %(until)s WHERE id = %(webhook)s"

# disable: nothing waits for a disabled webhook.
DROP_WAITING = """
    UPDATE notifications SET gave_up_at = clock_timestamp(), next_at = NULL, answer = %(answer)s
    WHERE webhook_id = %(webhook)s AND next_at IS NOT NULL
"""

# remove, restore: what waits for a webhook is kept back with it, and waits again when the deletion is undone.
HOLD_BACK_WAITING = """
    UPDATE notifications SET gave_up_at = %(now)s, next_at = NULL
    WHERE webhook_id = %(webhook)s AND next_at IS NOT NULL
"""
RELEASE_HELD_BACK = """
    UPDATE notifications SET gave_up_at = NULL, next_at = %(now)s
    WHERE webhook_id = %(webhook)s AND gave_up_at = %(deleted_at)s AND sent_at IS NULL
"""

# add, change, disable, remove, restore: written with the cursor locked, so that of two changes the later one
# counts.
UPDATE_HAS_WEBHOOKS = """
    UPDATE offices SET has_webhooks = EXISTS (
        SELECT 1 FROM office_webhooks w WHERE w.office_id = offices.id AND w.enabled AND w.deleted_at IS NULL
    )
    WHERE id = %(office)s
"""
