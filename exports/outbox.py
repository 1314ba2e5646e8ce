"""The transactional outbox of the streams: messages are stored with the change that they report, then sent.

An outage of Redis delays messages and loses none. Each is added to its stream once: Redis keeps the token of
what it got, so a sender that died before it deleted the row does no harm. After Redis has lost its data a
message may go out again; its reader knows the jobId.
"""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from redis import Redis

from exports import sql
from exports.models import StreamOutbox
from jobs.redis import ERRORS
from jobs.sql import call

BATCH = 200
TOKEN_SECONDS = 86_400
SENT_KEY = "dure:sent:{}"

# Atomic: a token without the message would lose it, a message without the token would double it.
ADD_ONCE = """
if redis.call('SET', KEYS[1], '1', 'NX', 'EX', ARGV[1]) then
    return redis.call('XADD', KEYS[2], '*', unpack(ARGV, 2))
end
return false
"""


def put(messages: Iterable[tuple[str, dict[str, str]]], now: datetime) -> None:
    """Call it inside the transaction of the change that the messages report."""
    StreamOutbox.objects.bulk_create(
        StreamOutbox(stream=stream, fields=fields, created_at=now) for stream, fields in messages
    )


def send_once(redis: "Redis") -> int:
    """Sends stored messages; answers how many. Raises when Redis does not answer; nothing is lost then."""
    rows = sorted(call.rows(sql.TAKE_OUTBOX, [BATCH]))
    if not rows:
        return 0
    ids = [row[0] for row in rows]
    try:
        pipe = redis.pipeline(transaction=False)
        for _, token, stream, fields in rows:
            pipe.eval(ADD_ONCE, 2, SENT_KEY.format(token), stream, TOKEN_SECONDS, *_flat(json.loads(fields)))
        pipe.execute()
    except ERRORS:
        call.change(sql.GIVE_BACK_OUTBOX, [ids])
        raise
    StreamOutbox.objects.filter(id__in=ids).delete()
    return len(ids)


def _flat(fields: Any) -> list[str]:
    return [part for pair in fields.items() for part in pair]
