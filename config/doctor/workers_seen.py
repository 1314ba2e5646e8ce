"""Who works: the workers of each role, those that answer, and whether the queues are consumed at all."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from celery import current_app
from django.conf import settings

from config.doctor import sql as ours
from config.doctor.finding import Finding, bad, ok, warn
from config.doctor.patience import in_short
from jobs.sql import call
from scheduler import sql

PING_SECONDS = 1.0
# Canaries come every 30 s, once the one before was consumed.
STALE_CANARY = 90.0
LONG_WAIT = 60.0
START = "start one: `celery -A config worker -Q {}`"
# What each queue of the engine's own is for, and whether everything depends on it.
ENGINES = {
    settings.DURE_CONTROL_QUEUE: (bad, "joins are not released, and what was lost is not put right"),
    settings.DURE_NOTICES_QUEUE: (warn, "webhooks and mail are not sent"),
}


@dataclass(frozen=True)
class Queue:
    """`canary`: since a worker consumed one; None when none ever did."""

    role: str
    ready: int = 0
    oldest: float | None = None
    workers: int = 0
    canary: float | None = None


def checks() -> Iterator[Finding]:
    alive = dict(call.rows(ours.ALIVE, [lease()]))
    yield from heartbeats(list(alive), [name for name, draining in alive.items() if draining])
    yield from answering(set(alive))
    found = queues()
    yield from unserved(found)
    yield from engines(found)
    yield canaries(found)
    yield oldest(found)


def lease() -> float:
    return float(settings.DURE_LEASE_SECONDS)


def heartbeats(alive: Sequence[str], draining: Sequence[str]) -> Iterator[Finding]:
    if not alive:
        yield bad("workers", "none has been heard of for a lease", START.format("PO,FE,BE,default"))
        return
    yield ok("workers", f"{len(alive)} alive: {', '.join(sorted(alive))}")
    if draining:
        yield warn(
            "draining",
            f"{', '.join(sorted(draining))}: takes nothing new",
            "stop it once it has finished, or `celery -A config control -d NAME dure_resume`",
        )


def answering(alive: Collection[str]) -> Iterator[Finding]:
    try:
        replies = current_app.control.ping(timeout=PING_SECONDS)
    except Exception as error:  # whatever the broker's client raises
        yield bad("ping", f"cannot be sent: {in_short(error)}", "see Redis, above")
        return
    names = {name for reply in replies for name in reply}
    if deaf := sorted(set(alive) - names):
        yield warn(
            "ping",
            f"alive in the database, and no answer through Redis: {', '.join(deaf)}",
            "see whether their REDIS_URL is the same as here, and whether they hang",
        )
    if strangers := sorted(names - set(alive)):
        yield warn(
            "ping",
            f"answer through Redis, and are not in the database: {', '.join(strangers)}",
            "see whether their DATABASE_URL is the same as here; one that just started comes in a moment",
        )
    if names == set(alive):
        yield ok("ping", f"{len(names)} answer")


def queues() -> list[Queue]:
    figures = {role: (ready, oldest) for role, ready, _, oldest in call.rows(sql.QUEUES)}
    sung = {role: seconds if was_seen else None for role, seconds, was_seen in call.rows(sql.QUEUE_PROBES)}
    workers = dict(call.rows(sql.WORKERS_BY_ROLE, {"alive": lease()}))
    return [
        Queue(name, *figures.get(name, (0, None)), workers.get(name, 0), sung.get(name))
        for name in (*settings.DURE_ROLES, *ENGINES)
    ]


def unserved(found: Sequence[Queue]) -> Iterator[Finding]:
    """Roles without a worker: bad where work waits for one."""
    roles = [one for one in found if one.role not in ENGINES]
    stuck = [one for one in roles if one.ready and not one.workers]
    if stuck:
        waiting = ", ".join(f"{one.role} ({one.ready:,})" for one in stuck)
        yield bad(
            "roles",
            f"work waits, and no worker takes it: {waiting}",
            START.format(",".join(one.role for one in stuck)),
        )
        return
    counted = ", ".join(f"{one.role} {one.workers}" for one in roles if one.workers)
    idle = [one.role for one in roles if not one.workers]
    without = f"none for {', '.join(idle)}, where nothing waits" if idle else ""
    yield ok("roles", "; ".join(part for part in (counted, without) if part))


def engines(found: Sequence[Queue]) -> Iterator[Finding]:
    for one in found:
        if one.role in ENGINES:
            judged, without = ENGINES[one.role]
            if one.workers:
                yield ok(one.role, f"{one.workers} consume the queue")
            else:
                yield judged(one.role, f"nobody consumes the queue: {without}", START.format(one.role))


def canaries(found: Sequence[Queue]) -> Finding:
    """Workers that answer a ping may consume nothing all the same."""
    sung = [one for one in found if one.workers and one.canary is not None]
    stale = [one for one in sung if one.canary is not None and one.canary > STALE_CANARY]
    if stale:
        shown = ", ".join(f"{one.role} {one.canary:.0f} s ago" for one in stale)
        return warn(
            "canaries",
            f"workers are there, and have consumed none for long: {shown}",
            "see what they run: `celery -A config inspect dure_runs`; long runs may hold all slots",
        )
    if not sung:
        return ok("canaries", "none was consumed yet, or no worker is there to")
    last = max(one.canary or 0.0 for one in sung)
    return ok("canaries", f"consumed in {len(sung)} queues, each within {last:.0f} s")


def oldest(found: Sequence[Queue]) -> Finding:
    late = max(found, key=lambda one: one.oldest or 0.0)
    seconds = late.oldest or 0.0
    if seconds <= LONG_WAIT:
        return ok("oldest ready", f"{seconds:.0f} s" if late.ready else "nothing waits")
    return warn(
        "oldest ready",
        f"work of {late.role} has been ready for {seconds:,.0f} s",
        "see why: `manage.py jobs --status ready`, then `manage.py jobs show ID`",
    )
