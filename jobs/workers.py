"""Drains and resumes workers, and says what they offer."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from celery import current_app
from django.conf import settings

from jobs import activity, catalogue, redis
from jobs.errors import Conflict
from jobs.models import CatalogueOffer, Worker
from jobs.states import Act

# A worker that runs answers at once.
ANSWER_SECONDS = 2.0


@dataclass(frozen=True)
class Offers:
    """What a worker can run, and the packages with their versions that this comes from."""

    tasks: list[str]
    operations: list[str]
    packages: list[str]


def is_online(worker: Worker, now: datetime) -> bool:
    """Whether its last heartbeat is younger than a lease."""
    return worker.seen_at > now - timedelta(seconds=settings.DURE_LEASE_SECONDS)


def offers_of(name: str) -> Offers:
    rows = CatalogueOffer.objects.filter(worker=name).order_by("name")
    tasks: list[str] = []
    operations: list[str] = []
    packages = set()
    for kind, offered, *package in rows.values_list("kind", "name", "entry__package", "entry__version"):
        (tasks if kind == catalogue.TASK else operations).append(offered)
        packages.add(" ".join(package).strip())
    return Offers(tasks, operations, sorted(packages - {""}))


def drain(name: str, *, user: int) -> None:
    """Have the worker take nothing new and finish what runs, until it is resumed or restarted."""
    _ask(name, "dure_drain")
    activity.record(Act.WORKER_DRAINED, owner=user, worker=name)


def resume(name: str, *, user: int) -> None:
    """Have a drained worker take work again."""
    _ask(name, "dure_resume")
    activity.record(Act.WORKER_RESUMED, owner=user, worker=name)


def _ask(name: str, command: str) -> None:
    """Send the command and wait for the worker's answer; Conflict if it gives none, or refuses."""
    try:
        with redis.circuit_breaker():
            replies = current_app.control.broadcast(
                command, destination=[name], reply=True, timeout=ANSWER_SECONDS, limit=1
            )
    except Exception as error:  # any error of the broker's client
        raise Conflict("worker_unreachable", name=name) from error
    answer = replies[0].get(name, {}) if replies else {}
    if "ok" not in answer:
        raise Conflict("worker_refused" if answer else "worker_unreachable", name=name, **answer)
