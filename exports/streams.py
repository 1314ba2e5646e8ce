"""Redis Streams with consumer groups: read, take over, acknowledge, trim.

A missing group is created, on an empty stream too. A group that is missing on a running system means that
Redis has lost its data, messages included; `read` then raises GroupLost.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from redis import Redis
from redis.exceptions import ResponseError

from exports.messages import CONTROL, DEADLETTER, PROGRESS, REQUESTS, RESULTS
from jobs import redis as redis_clients

# The names of the groups are part of the contract: BACKEND is ours alone, and foreign workers join WORKERS to
# share the requests.
BACKEND = "dure-backend"
WORKERS = "dure-workers"
MAX_CONTROL = 10_000
GROUPS = {PROGRESS: BACKEND, RESULTS: BACKEND, REQUESTS: WORKERS}


@dataclass(frozen=True, slots=True)
class Entry:
    stream: str
    id: str
    # None: it was deleted or trimmed meanwhile; only its id is left.
    raw: dict[bytes, bytes] | None


class GroupLost(Exception):
    """A group was missing and has been created again."""


def connect(url: str) -> "Redis":
    """A client for reading. Its timeout is well above any blocking read here."""
    return redis_clients.connect(redis_clients.STREAMS, url)


def ensure_groups(redis: "Redis", streams: Iterable[str]) -> list[str]:
    """Creates missing groups, from the start of their streams; answers the streams concerned."""
    created = []
    for stream in streams:
        try:
            redis.xgroup_create(stream, GROUPS[stream], id="0", mkstream=True)
            created.append(stream)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise
    return created


def read(
    redis: "Redis", consumer: str, streams: Sequence[str], count: int, block_ms: int | None
) -> list[Entry]:
    """New messages of streams with the same group."""
    try:
        answer: Any = redis.xreadgroup(
            GROUPS[streams[0]], consumer, dict.fromkeys(streams, ">"), count=count, block=block_ms
        )
    except ResponseError as error:
        if not str(error).startswith("NOGROUP"):
            raise
        ensure_groups(redis, GROUPS)
        raise GroupLost from None
    # A list of pairs, or with RESP3 a mapping of lists of such lists.
    pairs = answer.items() if isinstance(answer, dict) else answer or []
    return [_entry(stream, message) for stream, messages in pairs for message in _flat(messages)]


def take_over(redis: "Redis", consumer: str, stream: str, idle_ms: int, count: int) -> list[Entry]:
    """Messages that a consumer, this one included, read and did not acknowledge."""
    entries, start = list[Entry](), "0-0"
    while len(entries) < count:
        answer: Any = redis.xautoclaim(stream, GROUPS[stream], consumer, idle_ms, start_id=start, count=count)
        entries += [_entry(stream, message) for message in answer[1]]
        # Ids whose message was deleted can only be acknowledged.
        deleted = [_text(own_id) for own_id in (answer[2] if len(answer) > 2 else ())]
        if deleted:
            redis.xack(stream, GROUPS[stream], *deleted)
        start = _text(answer[0])
        if start == "0-0":
            break
    return entries


def keep(redis: "Redis", consumer: str, stream: str, ids: Sequence[str]) -> None:
    """Keeps other consumers from taking over messages that this one is still working on."""
    if ids:
        redis.xclaim(stream, GROUPS[stream], consumer, 0, list(ids), justid=True)


def deliveries(redis: "Redis", stream: str, ids: Sequence[str]) -> dict[str, int]:
    """How often each message was delivered."""
    if not ids:
        return {}
    rows: Any = redis.xpending_range(stream, GROUPS[stream], min=ids[0], max=ids[-1], count=len(ids) * 4)
    return {_text(row["message_id"]): int(row["times_delivered"]) for row in rows}


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
    """Deletes messages that every group has acknowledged; answers how many."""
    try:
        groups: Any = redis.xinfo_groups(stream)
    except ResponseError:
        return 0
    limits = [_first_needed(redis, stream, group) for group in groups]
    if not limits or None in limits:
        return 0
    lowest = min(limit for limit in limits if limit is not None)
    return int(redis.xtrim(stream, minid=f"{lowest[0]}-{lowest[1]}", approximate=False))


def trim_by_length(redis: "Redis") -> int:
    """Nobody acknowledges these messages, so only the length of a stream says what is old.

    Every worker reads job.control by itself. Programs may follow job.deadletter; the rows of the dead letters
    stay.
    """
    lengths = {CONTROL: MAX_CONTROL, DEADLETTER: settings.DURE_DEAD_LETTER_STREAM_LENGTH}
    return sum(
        int(redis.xtrim(stream, maxlen=length, approximate=True)) for stream, length in lengths.items()
    )


def _first_needed(redis: "Redis", stream: str, group: Any) -> tuple[int, int] | None:
    """The first id that the group may still need."""
    name = _text(group["name"])
    if group["pending"]:
        pending: Any = redis.xpending(stream, name)
        return _parse(pending["min"]) if pending["min"] else None
    time, number = _parse(group["last-delivered-id"])
    return time, number + 1


def _parse(own_id: Any) -> tuple[int, int]:
    time, _, number = _text(own_id).partition("-")
    return int(time), int(number)


def _entry(stream: Any, message: Any) -> Entry:
    own_id, raw = message
    return Entry(_text(stream), _text(own_id), raw)


def _flat(messages: Any) -> list[Any]:
    nested = messages and isinstance(messages[0], list)
    return [message for part in messages for message in part] if nested else list(messages)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
