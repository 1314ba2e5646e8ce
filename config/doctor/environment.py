"""The settings: what may be set and is unwise.

What production refuses, a malformed value for one, never comes this far: see `without_settings.py`.
"""

import os
from collections.abc import Iterator

from django.conf import settings
from django.core import checks as django_checks

from config.doctor.finding import Finding, bad, ok, warn
from config.doctor.names import known_variables, unknown_variables

SHORTEST_PASSWORD = 12


def checks() -> Iterator[Finding]:
    yield where_it_runs(settings.DURE_ENV, settings.DEBUG)
    yield from unknown_variables(os.environ, known_variables())
    yield from leases(
        settings.DURE_LEASE_SECONDS,
        settings.DURE_HEARTBEAT_SECONDS,
        settings.DURE_SWEEP_SECONDS,
    )
    yield stopping(settings.CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT, os.environ.get("REMAP_SIGTERM") or "")
    if settings.PRODUCTION:
        yield from production()
    yield from by_django()


def where_it_runs(environment: str, debug: bool) -> Finding:
    if debug:
        return warn("environment", f"{environment}, DURE_DEBUG on", "unset DURE_DEBUG: it shows tracebacks")
    if environment == "production":
        return ok("environment", "production, with all that it asks for")
    return ok("environment", f"{environment}; DURE_ENV=production would refuse what is unsafe")


def leases(lease: float, heartbeat: float, sweep: float) -> Iterator[Finding]:
    said = f"lease {lease:g} s, heartbeat {heartbeat:g} s, sweep {sweep:g} s"
    if heartbeat * 2 > lease:
        yield bad(
            "lease",
            said,
            "set DURE_HEARTBEAT_SECONDS to a third of DURE_LEASE_SECONDS: one late heartbeat loses the run",
        )
    else:
        yield ok("lease", said)


def stopping(drain: float, remapped: str) -> Finding:
    said = f"a worker that is told to stop waits {drain:g} s for its runs"
    if remapped != "SIGQUIT":
        return ok("stop", f"{said}, where REMAP_SIGTERM=SIGQUIT is set for it; it is not set here")
    return ok("stop", f"{said}, then hands them back")


def production() -> Iterator[Finding]:
    """What may be right there, and usually is not."""
    if not settings.BASE_URL.startswith("https://"):
        yield warn("address", settings.BASE_URL, "set DURE_BASE_URL to the https:// address that clients use")
    if not settings.DURE_PROXIES:
        yield warn(
            "proxies",
            "DURE_PROXIES is 0: no proxy is believed, and plain HTTP is sent to HTTPS",
            "say how many proxies of yours stand before the web process; one of them has to speak TLS",
        )
    if settings.CRON_SECRET and len(settings.CRON_SECRET) < SHORTEST_PASSWORD:
        yield warn("cron secret", "CRON_SECRET is short", "give one of 32 random characters or more")


def by_django() -> Iterator[Finding]:
    """Django's own checks, those for production where it is."""
    messages = [
        message
        for message in django_checks.run_checks(include_deployment_checks=settings.PRODUCTION)
        if not message.is_silenced() and message.level >= django_checks.WARNING
    ]
    for message in messages:
        judged = bad if message.level >= django_checks.ERROR else warn
        yield judged(
            "django", f"{message.id}: {message.msg}", message.hint or "`manage.py check --deploy` tells more"
        )
    if not messages:
        yield ok("django", "its checks find nothing")
