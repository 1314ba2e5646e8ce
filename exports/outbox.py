"""Messages that must go out: written with what they tell, sent by whoever comes by, remembered by Redis.

A Redis that is away delays them and loses none. Each goes out once: Redis keeps the token of what it
was given, so a sender that died before it could delete the row does no harm. After Redis has lost its
data a message may go out again; whoever reads it knows its jobId.
"""

import json
import logging
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from redis import Redis

from exports import sql
from exports.models import StreamOutbox
from jobs.redis import ERRORS
from jobs.sql import call

log = logging.getLogger(__name__)

BATCH = 200
REMEMBERED_SECONDS = 86_400
MARK = "dure:sent:{}"

# One step in Redis: marking without adding would lose the message, adding without marking doubles it.
ADD_ONCE = """
if redis.call('SET', KEYS[1], '1', 'NX', 'EX', ARGV[1]) then
    return redis.call('XADD', KEYS[2], '*', unpack(ARGV, 2))
end
return false
"""


def put(messages: Iterable[tuple[str, dict[str, str]]], now: datetime) -> None:
    """Inside the transaction of what they tell."""
    StreamOutbox.objects.bulk_create(
        StreamOutbox(stream=stream, fields=fields, created_at=now) for stream, fields in messages
    )


def relay_once(redis: "Redis", limit: int = BATCH) -> int:
    """Sends what waits; how many went out. Raises when Redis does not answer; nothing is lost by it."""
    taken = sorted(call.rows(sql.TAKE_OUTBOX, [limit]))
    if not taken:
        return 0
    ids = [row[0] for row in taken]
    try:
        pipe = redis.pipeline(transaction=False)
        for _, token, stream, fields in taken:
            pipe.eval(ADD_ONCE, 2, MARK.format(token), stream, REMEMBERED_SECONDS, *_flat(json.loads(fields)))
        pipe.execute()
    except ERRORS:
        call.change(sql.GIVE_BACK_OUTBOX, [ids])
        raise
    StreamOutbox.objects.filter(id__in=ids).delete()
    return len(ids)


def _flat(fields: Any) -> list[str]:
    return [part for pair in fields.items() for part in pair]
