"""Workers, and the queues that they serve."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from celery import current_app
from django.conf import settings
from django.core.checks import CheckMessage
from django.db.models.functions import Now

from jobs.catalogue import TASK
from jobs.diagnostics import error, ok, register, warning
from jobs.models import PausedRole, Worker
from jobs.queries import known_roles
from jobs.sql import call, catalogue
from jobs.texts import first_line
from scheduler.sql import reports

PING_SECONDS = 1.0
# Probes are sent every 30 s, each after the previous one was consumed.
STALE_PROBE = 90.0
# The message's name, which programs that read the JSON know.
PROBES = "canaries"
LONG_WAIT = 60.0
MOST_LISTED = 10
START_WORKER = "start one: `celery -A config worker -Q {}`"
# The effect of a missing consumer for each queue of the engine, and its severity.
ENGINE_QUEUES = {
    settings.DURE_CONTROL_QUEUE: (error, "joins are not released, and lost runs are not rescued"),
    settings.DURE_NOTICES_QUEUE: (warning, "webhooks and mail are not sent"),
}


@dataclass(frozen=True)
class Queue:
    """`probe_seconds` is the time since a worker last consumed a probe; None if no worker has."""

    role: str
    ready: int = 0
    oldest: float | None = None
    workers: int = 0
    probe_seconds: float | None = None


@register("workers")
def check_workers() -> Iterator[CheckMessage]:
    lease = float(settings.DURE_LEASE_SECONDS)
    seen = Worker.objects.filter(seen_at__gt=Now() - timedelta(seconds=lease)).order_by("name")
    alive = dict(seen.values_list("name", "draining"))
    yield from check_heartbeats(list(alive), [name for name, draining in alive.items() if draining])
    yield from check_ping(set(alive))
    queues = read_queues(lease)
    yield check_roles(queues)
    yield from check_pauses()
    yield from check_engine_queues(queues)
    yield check_probes(queues)
    yield check_oldest(queues)
    values = {"kind": TASK, "lease": lease}
    different = [name for (name,) in call.rows(catalogue.DIFFERENT_SCHEMAS, values)]
    yield from check_tasks(different, call.rows(catalogue.LACKING_WORKERS, values))
    yield from check_limits([name for (name,) in call.rows(catalogue.DIFFERENT_LIMITS, values)])


def read_queues(lease: float) -> list[Queue]:
    waiting = {role: (ready, oldest) for role, ready, _, oldest in call.rows(reports.QUEUES)}
    probes = {
        role: seconds if was_seen else None for role, seconds, was_seen in call.rows(reports.QUEUE_PROBES)
    }
    workers = dict(call.rows(reports.WORKERS_BY_ROLE, {"alive": lease}))
    return [
        Queue(name, *waiting.get(name, (0, None)), workers.get(name, 0), probes.get(name))
        for name in dict.fromkeys([*known_roles(), *sorted(waiting), *ENGINE_QUEUES])
    ]


def check_heartbeats(alive: Sequence[str], draining: Sequence[str]) -> Iterator[CheckMessage]:
    if not alive:
        yield error("workers", "no heartbeat within a lease", START_WORKER.format("PO,FE,BE,default"))
        return
    yield ok("workers", f"{len(alive)} alive: {', '.join(sorted(alive))}")
    if draining:
        yield warning(
            "draining",
            f"{', '.join(sorted(draining))}: accepts no new work",
            "stop it after its last run, or `celery -A config control -d NAME dure_resume`",
        )


def check_ping(alive: Collection[str]) -> Iterator[CheckMessage]:
    try:
        replies = current_app.control.ping(timeout=PING_SECONDS)
    except Exception as problem:  # any error of the broker's client
        yield error("ping", f"cannot be sent: {first_line(problem)}", "see Redis, above")
        return
    names = {name for reply in replies for name in reply}
    if silent := sorted(set(alive) - names):
        yield warning(
            "ping",
            f"alive in the database, without an answer through Redis: {', '.join(silent)}",
            "check that their REDIS_URL is the same as here, and that they are not blocked",
        )
    if unknown := sorted(names - set(alive)):
        yield warning(
            "ping",
            f"answer through Redis, and are not in the database: {', '.join(unknown)}",
            "check that their DATABASE_URL is the same as here; a new worker appears after a moment",
        )
    if names == set(alive):
        yield ok("ping", f"{len(names)} answer")


def check_roles(queues: Sequence[Queue]) -> CheckMessage:
    """A role without a worker is an error only if work waits for it."""
    roles = [queue for queue in queues if queue.role not in ENGINE_QUEUES]
    stuck = [queue for queue in roles if queue.ready and not queue.workers]
    if stuck:
        waiting = ", ".join(f"{queue.role} ({queue.ready:,})" for queue in stuck)
        hint = START_WORKER.format(",".join(queue.role for queue in stuck))
        return error("roles", f"work is waiting, and no worker takes it: {waiting}", hint)
    counted = ", ".join(f"{queue.role} {queue.workers}" for queue in roles if queue.workers)
    idle = [queue.role for queue in roles if not queue.workers]
    without = f"none for {', '.join(idle)}, where nothing is waiting" if idle else ""
    return ok("roles", "; ".join(part for part in (counted, without) if part))


def check_pauses() -> Iterator[CheckMessage]:
    if pauses := list(PausedRole.objects.all()):
        listed = ", ".join(f"{each.role} (by {each.by}, {each.since:%Y-%m-%d %H:%M} UTC)" for each in pauses)
        yield warning(
            "paused queues", f"nothing starts in {listed}", "resume it: `manage.py queues resume ROLE`"
        )


def check_engine_queues(queues: Sequence[Queue]) -> Iterator[CheckMessage]:
    for queue in queues:
        if queue.role in ENGINE_QUEUES:
            severity, effect = ENGINE_QUEUES[queue.role]
            if queue.workers:
                yield ok(queue.role, f"{queue.workers} consume the queue")
            else:
                yield severity(
                    queue.role, f"no worker consumes the queue: {effect}", START_WORKER.format(queue.role)
                )


def check_tasks(different: Sequence[str], lacking: Sequence[tuple[str, str]]) -> Iterator[CheckMessage]:
    if different:
        yield warning(
            "schemas",
            f"online workers have different schemas of {', '.join(different)}",
            "deploy the same version to all of them; the page of the Task shows which worker has which",
        )
    if lacking:
        listed = ", ".join(f"{task} on {worker}" for task, worker in lacking[:MOST_LISTED])
        more = f" and {len(lacking) - MOST_LISTED} more" if len(lacking) > MOST_LISTED else ""
        yield warning(
            "tasks",
            f"workers of the Task's role lack it, while others have it: {listed}{more}",
            "give all workers of a role the same DURE_WORKER_MODULES, or the Task a role of its own",
        )
    if not different and not lacking:
        yield ok("tasks", "all workers of a role have the same Tasks")


def check_limits(different: Sequence[str]) -> Iterator[CheckMessage]:
    if different:
        yield warning(
            "limits",
            f"online workers have different limits of {', '.join(different)}; the last one's are in force",
            "deploy the same version to all of them; the page of the Task shows which worker has which",
        )


def check_probes(queues: Sequence[Queue]) -> CheckMessage:
    """Workers that answer a ping may still consume nothing."""
    seconds = {
        queue.role: queue.probe_seconds
        for queue in queues
        if queue.workers and queue.probe_seconds is not None
    }
    stale = [f"{role} {age:.0f} s ago" for role, age in seconds.items() if age > STALE_PROBE]
    if stale:
        return warning(
            PROBES,
            f"workers exist, and consumed their last queue probe long ago: {', '.join(stale)}",
            "see what they run: `celery -A config inspect dure_runs`; long runs may occupy all slots",
        )
    if not seconds:
        return ok(PROBES, "none was consumed yet, or there is no worker")
    return ok(PROBES, f"consumed in {len(seconds)} queues, each within {max(seconds.values()):.0f} s")


def check_oldest(queues: Sequence[Queue]) -> CheckMessage:
    latest = max(queues, key=lambda queue: queue.oldest or 0.0)
    seconds = latest.oldest or 0.0
    if seconds <= LONG_WAIT:
        return ok("oldest ready", f"{seconds:.0f} s" if latest.ready else "nothing is waiting")
    return warning(
        "oldest ready",
        f"work of {latest.role} has been ready for {seconds:,.0f} s",
        "see why: `manage.py jobs --status ready`, then `manage.py jobs show ID`",
    )
