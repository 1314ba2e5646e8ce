"""Redis Streams with consumer groups: reading, taking over, acknowledging, trimming.

A group is made when it is missing, on an empty stream too. That a group is missing on a running
system means that Redis has lost its data; whoever reads is told, since messages went with it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from redis import Redis
from redis.exceptions import ResponseError

from exports.messages import PROGRESS, REQUESTS, RESULTS
from jobs import redis as redis_clients

# The groups' names are part of the contract: foreign workers share BACKEND with nobody, and join
# WORKERS when they want their part of the requests.
BACKEND = "dure-backend"
WORKERS = "dure-workers"
GROUPS = {PROGRESS: BACKEND, RESULTS: BACKEND, REQUESTS: WORKERS}


@dataclass(frozen=True, slots=True)
class Entry:
    stream: str
    id: str
    # None: it was deleted or trimmed while it was being worked on; only its id is left.
    raw: dict[bytes, bytes] | None


class GroupLost(Exception):
    """A group that had been there was gone; it has been made again."""


def connect(url: str) -> "Redis":
    """A client for reading: its time-out is well above any blocking read here, so silence is no error."""
    return redis_clients.connect(redis_clients.STREAMS, url)


def ensure_groups(redis: "Redis", streams: Iterable[str]) -> list[str]:
    """Those streams whose group had to be made. From the beginning: what is there already counts."""
    made = []
    for stream in streams:
        try:
            redis.xgroup_create(stream, GROUPS[stream], id="0", mkstream=True)
            made.append(stream)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise
    return made


def read(
    redis: "Redis", consumer: str, streams: Sequence[str], count: int, block_ms: int | None
) -> list[Entry]:
    """New messages of streams that have the same group."""
    try:
        found: Any = redis.xreadgroup(
            GROUPS[streams[0]], consumer, dict.fromkeys(streams, ">"), count=count, block=block_ms
        )
    except ResponseError as error:
        if not str(error).startswith("NOGROUP"):
            raise
        ensure_groups(redis, GROUPS)
        raise GroupLost from None
    # A list of pairs, or with RESP3 a mapping of lists of such lists.
    pairs = found.items() if isinstance(found, dict) else found or []
    return [_entry(stream, one) for stream, ones in pairs for one in _flat(ones)]


def take_over(redis: "Redis", consumer: str, stream: str, idle_ms: int, count: int) -> list[Entry]:
    """Messages that some consumer took and did not finish, this one included."""
    entries, start = list[Entry](), "0-0"
    while len(entries) < count:
        answer: Any = redis.xautoclaim(stream, GROUPS[stream], consumer, idle_ms, start_id=start, count=count)
        entries += [_entry(stream, one) for one in answer[1]]
        # Ids whose message is gone: nothing can be done for them but to forget them.
        gone = [_text(own_id) for own_id in (answer[2] if len(answer) > 2 else ())]
        if gone:
            redis.xack(stream, GROUPS[stream], *gone)
        start = _text(answer[0])
        if start == "0-0":
            break
    return entries


def deliveries(redis: "Redis", stream: str, ids: Sequence[str]) -> dict[str, int]:
    """How often each of these was handed out."""
    if not ids:
        return {}
    found: Any = redis.xpending_range(stream, GROUPS[stream], min=ids[0], max=ids[-1], count=len(ids) * 4)
    return {_text(one["message_id"]): int(one["times_delivered"]) for one in found}


def acknowledge(redis: "Redis", entries: Iterable[Entry]) -> None:
    pipe = redis.pipeline(transaction=False)
    by_stream: dict[str, list[str]] = {}
    for entry in entries:
        by_stream.setdefault(entry.stream, []).append(entry.id)
    for stream, ids in by_stream.items():
        pipe.xack(stream, GROUPS[stream], *ids)
    if by_stream:
        pipe.execute()


def trim(redis: "Redis", stream: str) -> int:
    """Drops what every group of the stream has acknowledged, and nothing else; how many."""
    try:
        groups: Any = redis.xinfo_groups(stream)
    except ResponseError:
        return 0
    limits = [_unacknowledged_from(redis, stream, group) for group in groups]
    if not limits or None in limits:
        return 0
    lowest = min(limit for limit in limits if limit is not None)
    return int(redis.xtrim(stream, minid=f"{lowest[0]}-{lowest[1]}", approximate=False))


def _unacknowledged_from(redis: "Redis", stream: str, group: Any) -> tuple[int, int] | None:
    """The first id that this group may still need."""
    name = _text(group["name"])
    if group["pending"]:
        pending: Any = redis.xpending(stream, name)
        return _parsed(pending["min"]) if pending["min"] else None
    time, number = _parsed(group["last-delivered-id"])
    return time, number + 1


def _parsed(own_id: Any) -> tuple[int, int]:
    time, _, number = _text(own_id).partition("-")
    return int(time), int(number)


def _entry(stream: Any, one: Any) -> Entry:
    own_id, raw = one
    return Entry(_text(stream), _text(own_id), raw)


def _flat(ones: Any) -> list[Any]:
    return [item for part in ones for item in part] if ones and isinstance(ones[0], list) else list(ones)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
