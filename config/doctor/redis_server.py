"""Redis: that it answers, that it drops nothing by itself, and that nobody else lives in it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

from config.doctor.finding import Finding, bad, ok, warn
from config.doctor.patience import SECONDS, NoAnswer, in_short, within
from jobs.redis import CHECK, connect

OLDEST = (6, 2)
FULL = 0.8
LOOKED_AT = 5_000
# What Celery, kombu, the streams of exports and we call our keys; queues besides.
OURS = re.compile(
    r"dure:|_kombu\.|unacked|celery-task|celeryev|job\.(requests|progress|results|deadletter)$|.*\.pidbox$"
)
LEVEL = "\x06\x16"  # kombu's sign between a queue's name and the level of its messages

Info = Mapping[str, Any]


def reachable() -> Finding:
    try:
        within(SECONDS, lambda: client().ping())
    except (RedisError, OSError, NoAnswer) as error:
        return bad("connection", f"{place()}: {in_short(error)}", advice(in_short(error)))
    return ok("connection", f"{place()} answers")


def client() -> "Redis":
    return connect(CHECK)


def place() -> str:
    """Where it is, without the password."""
    parts = urlsplit(settings.REDIS_URL)
    return f"{parts.hostname}:{parts.port or 6379}{parts.path or '/0'}"


def advice(said: str) -> str:
    if any(word in said for word in ("auth", "AUTH", "password", "WRONGPASS")):
        return "give REDIS_URL the password of the server: redis://:password@host:6379/0"
    return "start it, or set REDIS_URL to where it is; work that was accepted waits in PostgreSQL meanwhile"


def checks() -> Iterator[Finding]:
    with client() as redis:
        info: Info = redis.info()
        yield version(str(info.get("redis_version", "")), str(info.get("valkey_version", "")))
        yield from standing(info)
        yield from memory(info)
        yield persistence(info)
        yield keyspace(int(redis.dbsize()), foreign(islice(redis.scan_iter(count=500), LOOKED_AT)))


def version(number: str, valkey: str = "") -> Finding:
    said = f"Valkey {valkey}" if valkey else f"Redis {number}"
    parts = tuple(int(part) for part in number.split(".")[:2] if part.isdecimal())
    if parts < OLDEST:
        return bad("version", said, f"move to {'.'.join(map(str, OLDEST))} or newer")
    return ok("version", said)


def standing(info: Info) -> Iterator[Finding]:
    if info.get("role") != "master":
        yield bad("role", "a replica, which takes no writes", "name the primary in REDIS_URL")
    if info.get("redis_mode") == "cluster":
        yield bad("mode", "a cluster", "Celery's queues need one server: use one without cluster mode")
    if info.get("loading"):
        yield warn("loading", "it is still reading its data", "wait, and look again")


def memory(info: Info) -> Iterator[Finding]:
    policy, most = str(info.get("maxmemory_policy", "")), int(info.get("maxmemory", 0))
    used, evicted = int(info.get("used_memory", 0)), int(info.get("evicted_keys", 0))
    said = f"{mebibytes(used)} used of {mebibytes(most) if most else 'what the machine has'}, {policy}"
    if policy != "noeviction":
        judged = bad if most else warn
        yield judged(
            "memory", said, "set maxmemory-policy noeviction: a queue must refuse, not drop in silence"
        )
    elif most and used > FULL * most:
        yield warn("memory", said, "raise maxmemory, or see which queue grows: nobody consumes it")
    else:
        yield ok("memory", said)
    if evicted:
        yield warn("evicted", f"{evicted:,} keys were dropped since it started", "see the memory, above")


def persistence(info: Info) -> Finding:
    failed = [
        name
        for name in ("rdb_last_bgsave_status", "aof_last_write_status", "aof_last_bgrewrite_status")
        if info.get(name, "ok") != "ok"
    ]
    if failed:
        return bad(
            "persistence",
            f"{', '.join(failed)}: failed",
            "make room on its disk, and see its log: it may refuse to write",
        )
    if not int(info.get("aof_enabled", 0)):
        return warn(
            "persistence",
            "appendonly is off: a restart forgets the queues",
            "set appendonly yes; without it the sweep sends again what was lost, which takes its time",
        )
    return ok("persistence", "appendonly is on")


def foreign(keys: Iterable[str]) -> list[str]:
    """Those that are none of ours."""
    queues = {*settings.DURE_ROLES, settings.DURE_CONTROL_QUEUE, settings.DURE_NOTICES_QUEUE}
    return [key for key in keys if key.partition(LEVEL)[0] not in queues and not OURS.match(key)]


def keyspace(count: int, others: list[str]) -> Finding:
    said = f"{count:,} keys"
    if not others:
        return ok("keys", said)
    return warn(
        "keys",
        f"{said}, {len(others)} or more of somebody else, such as {others[0][:40]!r}",
        "give each application a database number of its own: redis://host:6379/1",
    )


def mebibytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"
