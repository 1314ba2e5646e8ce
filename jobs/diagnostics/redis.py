"""Redis: connection, version, memory, persistence, and keys of other applications."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage
from django.db import DatabaseError, InterfaceError
from redis.exceptions import RedisError

from jobs.diagnostics import CONNECT_SECONDS, error, ok, register, warning
from jobs.queries import known_roles
from jobs.redis import CHECK, connect
from jobs.texts import first_line
from jobs.threads import call_within

OLDEST = (6, 2)
FULL = 0.8
KEYS_CHECKED = 5_000
# The keys of Celery, kombu, the streams of exports and this application; queues besides.
OWN_KEY = re.compile(
    r"dure:|_kombu\.|unacked|celery-task|celeryev|job\.(requests|progress|results|deadletter)$|.*\.pidbox$"
)
LEVEL = "\x06\x16"  # kombu's separator between a queue's name and the priority of its messages

Info = Mapping[str, Any]


@register("redis")
def check_connection() -> Iterator[CheckMessage]:
    parts = urlsplit(settings.REDIS_URL)
    address = f"{parts.hostname}:{parts.port or 6379}{parts.path or '/0'}"
    try:
        call_within(CONNECT_SECONDS, lambda: connect(CHECK).ping())
    except (RedisError, OSError) as problem:
        reason = first_line(problem)
        yield error("connection", f"{address}: {reason}", connection_hint(reason))
    else:
        yield ok("connection", f"{address} answers")


@register("redis")
def check_server() -> Iterator[CheckMessage]:
    with connect(CHECK) as client:
        info: Info = client.info()
        yield check_version(str(info.get("redis_version", "")), str(info.get("valkey_version", "")))
        yield from check_mode(info)
        yield from check_memory(info)
        yield check_persistence(info)
        keys = islice(client.scan_iter(count=500), KEYS_CHECKED)
        yield check_keys(int(client.dbsize()), foreign_keys(keys, queue_names()))


def connection_hint(reason: str) -> str:
    if any(word in reason for word in ("auth", "AUTH", "password", "WRONGPASS")):
        return "give REDIS_URL the password of the server: redis://:password@host:6379/0"
    return "start it, or set REDIS_URL to its address; accepted work waits in PostgreSQL meanwhile"


def check_version(number: str, valkey: str = "") -> CheckMessage:
    text = f"Valkey {valkey}" if valkey else f"Redis {number}"
    parts = tuple(int(part) for part in number.split(".")[:2] if part.isdecimal())
    if parts < OLDEST:
        return error("version", text, f"upgrade to {'.'.join(map(str, OLDEST))} or newer")
    return ok("version", text)


def check_mode(info: Info) -> Iterator[CheckMessage]:
    if info.get("role") != "master":
        yield error("role", "a replica, which accepts no writes", "name the primary in REDIS_URL")
    if info.get("redis_mode") == "cluster":
        yield error("mode", "a cluster", "use one server without cluster mode: Celery's queues need it")
    if info.get("loading"):
        yield warning("loading", "it is still loading its data", "wait, and run this again")


def check_memory(info: Info) -> Iterator[CheckMessage]:
    policy, limit = str(info.get("maxmemory_policy", "")), int(info.get("maxmemory", 0))
    used, evicted = int(info.get("used_memory", 0)), int(info.get("evicted_keys", 0))
    text = f"{_mebibytes(used)} used of {_mebibytes(limit) if limit else 'all memory'}, {policy}"
    if policy != "noeviction":
        severity = error if limit else warning
        yield severity(
            "memory", text, "set maxmemory-policy noeviction: a queue must refuse messages, not drop them"
        )
    elif limit and used > FULL * limit:
        yield warning("memory", text, "raise maxmemory, or see which queue grows without a consumer")
    else:
        yield ok("memory", text)
    if evicted:
        yield warning(
            "evicted",
            f"{evicted:,} keys were dropped since it started",
            "see the memory, above",
        )


def check_persistence(info: Info) -> CheckMessage:
    failed = [
        name
        for name in ("rdb_last_bgsave_status", "aof_last_write_status", "aof_last_bgrewrite_status")
        if info.get(name, "ok") != "ok"
    ]
    if failed:
        return error(
            "persistence",
            f"{', '.join(failed)}: failed",
            "free space on its disk, and see its log: it may refuse to write",
        )
    if not int(info.get("aof_enabled", 0)):
        return warning(
            "persistence",
            "appendonly is off: a restart loses the queues",
            "set appendonly yes; without it the sweep republishes lost messages, which takes time",
        )
    return ok("persistence", "appendonly is on")


def queue_names() -> set[str]:
    try:
        roles: Iterable[str] = known_roles()
    except (DatabaseError, InterfaceError):  # another check reports it
        roles = settings.DURE_ROLES
    return {*roles, settings.DURE_CONTROL_QUEUE, settings.DURE_NOTICES_QUEUE}


def foreign_keys(keys: Iterable[str], queues: Container[str]) -> list[str]:
    """The keys of other applications."""
    return [key for key in keys if key.partition(LEVEL)[0] not in queues and not OWN_KEY.match(key)]


def check_keys(count: int, foreign: list[str]) -> CheckMessage:
    text = f"{count:,} keys"
    if not foreign:
        return ok("keys", text)
    return warning(
        "keys",
        f"{text}, {len(foreign)} or more of another application, such as {foreign[0][:40]!r}",
        "give each application its own database number: redis://host:6379/1",
    )


def _mebibytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"
