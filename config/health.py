"""/healthz reports that the process is alive, /readyz that it can serve: database, broker, migrations.

/readyz also names the other processes that are missing, as `degraded`, and stays ready without them.

Probes arrive by IP address and over plain HTTP, so the middleware answers them before the Host check and the
redirect to HTTPS.
"""

import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, HttpResponseBase, JsonResponse

from config.metrics import metrics
from jobs import redis
from scheduler import beats

if TYPE_CHECKING:
    from redis import Redis


class NotReady(Exception):
    """A service that this process needs is not available."""


def healthz(_request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "alive"})


def readyz(_request: HttpRequest) -> JsonResponse:
    checks = {name: _run_check(check) for name, check in CHECKS.items()}
    missing = [name for name, result in checks.items() if not result["ok"]]
    if not missing:
        checks |= {name: _run_check(check) for name, check in OTHER_PROCESSES.items()}
        degraded = [name for name in OTHER_PROCESSES if not checks[name]["ok"]]
        return JsonResponse({"status": "ready", "degraded": degraded, "checks": checks})
    body = {"status": "unavailable", "missing": missing, "checks": checks}
    return JsonResponse(body, status=503, headers={"Retry-After": "5"})


def database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def broker() -> None:
    _broker_client(settings.CELERY_BROKER_URL).ping()


def migrations() -> None:
    applied = MigrationRecorder(connection).applied_migrations()
    if missing := sorted(needed_migrations() - set(applied)):
        names = ", ".join(f"{app}.{name}" for app, name in missing[:3])
        raise NotReady(f"{len(missing)} not applied: {names}{'…' if len(missing) > 3 else ''}")


def beat() -> None:
    if not beats.status().running:
        raise NotReady("no beat is running: schedules and workflows do not start")


@cache
def needed_migrations() -> frozenset[tuple[str, str]]:
    """The last migrations of each app; the files do not change while the process runs."""
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).graph.leaf_nodes())


CHECKS: dict[str, Callable[[], None]] = {
    "database": database,
    "broker": broker,
    "migrations": migrations,
}

# Without these this process still answers, so they do not make it unready.
OTHER_PROCESSES: dict[str, Callable[[], None]] = {"beat": beat}


def _run_check(check: Callable[[], None]) -> dict[str, object]:
    start = time.perf_counter()
    reason = ""
    try:
        check()
    except NotReady as error:
        reason = str(error)
    except (DatabaseError, InterfaceError, *redis.ERRORS):
        # The driver's messages name hosts and users, and this page is public.
        reason = "does not answer"
    result: dict[str, object] = {"ok": not reason, "ms": round((time.perf_counter() - start) * 1000, 1)}
    return result | {"reason": reason} if reason else result


@cache
def _broker_client(url: str) -> "Redis":
    return redis.connect(redis.PROBE, url)


PROBES = {"/healthz": healthz, "/readyz": readyz, "/metrics": metrics}


class ProbeMiddleware:
    """The first middleware, so that no other one can fail before it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        probe = PROBES.get(request.path_info)
        if probe is None:
            return self.get_response(request)
        if request.method not in ("GET", "HEAD"):
            return JsonResponse({"status": "use GET"}, status=405, headers={"Allow": "GET, HEAD"})
        return probe(request)
