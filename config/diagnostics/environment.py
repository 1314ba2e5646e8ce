"""Checks of the settings, and of the variables that they are read from."""

import difflib
import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from django.conf import settings
from django.core import checks as django_checks
from django.core.checks import CheckMessage

from jobs.diagnostics import error, ok, register, warning

CHECKOUT = Path(__file__).resolve().parents[2]
PREFIX = "DURE_"
# A variable in the code that reads it: env.text(…), os.environ, or a constant.
VARIABLE = re.compile(rf'"({PREFIX}[A-Z0-9_]+)"')
# Only compose.yaml reads them.
COMPOSE_ONLY = {"DURE_IMAGE"}
PACKAGES = ("config", "jobs", "scheduler", "exports", "workers")
SHORTEST_SECRET = 12


@register("settings")
def check_settings() -> Iterator[CheckMessage]:
    yield check_environment(settings.DURE_ENV, settings.DEBUG)
    yield from check_variables(os.environ, known_variables())
    yield check_lease(
        settings.DURE_LEASE_SECONDS, settings.DURE_HEARTBEAT_SECONDS, settings.DURE_SWEEP_SECONDS
    )
    yield check_stop(settings.CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT, os.environ.get("REMAP_SIGTERM") or "")
    if settings.PRODUCTION:
        yield from check_production()
    yield from check_django()


def check_environment(environment: str, debug: bool) -> CheckMessage:
    if debug:
        return warning(
            "environment", f"{environment}, DURE_DEBUG on", "unset DURE_DEBUG: it shows tracebacks"
        )
    if environment == "production":
        return ok("environment", "production, with everything it requires")
    return ok("environment", f"{environment}; DURE_ENV=production would refuse unsafe settings")


def check_variables(environment: Mapping[str, str], names: Collection[str]) -> Iterator[CheckMessage]:
    """A DURE_ variable that nothing reads is usually a typo, and the setting keeps its default."""
    variables = [name for name in environment if name.startswith(PREFIX)]
    unknown = sorted(name for name in variables if name not in names)
    for name in unknown:
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.75)
        hint = f"did you mean {near[0]}?" if near else "docs/configuration.md lists the names"
        yield warning("variables", f"{name} is set, and nothing reads it", hint)
    if not unknown:
        yield ok("variables", f"{len(variables)} are set, all known" if variables else "none is set")


def known_variables() -> set[str]:
    names = set(COMPOSE_ONLY)
    for package in PACKAGES:
        for path in (CHECKOUT / package).rglob("*.py"):
            names.update(VARIABLE.findall(path.read_text()))
    return names


def check_lease(lease: float, heartbeat: float, sweep: float) -> CheckMessage:
    text = f"lease {lease:g} s, heartbeat {heartbeat:g} s, sweep {sweep:g} s"
    if heartbeat * 2 > lease:
        hint = "set DURE_HEARTBEAT_SECONDS to a third of DURE_LEASE_SECONDS: one late heartbeat loses the run"
        return error("lease", text, hint)
    return ok("lease", text)


def check_stop(drain: float, remapped: str) -> CheckMessage:
    text = f"a worker that is stopped waits {drain:g} s for its runs"
    if remapped != "SIGQUIT":
        return ok("stop", f"{text} if REMAP_SIGTERM=SIGQUIT is set for it; it is not set here")
    return ok("stop", f"{text}, then releases them")


def check_production() -> Iterator[CheckMessage]:
    """Check settings that are usually wrong; config/settings.py refuses those that are always wrong."""
    if not settings.BASE_URL.startswith("https://"):
        hint = "set DURE_BASE_URL to the https:// address that clients use"
        yield warning("address", settings.BASE_URL, hint)
    if not settings.DURE_PROXIES:
        yield warning(
            "proxies",
            "DURE_PROXIES is 0: no proxy is trusted, and plain HTTP is redirected to HTTPS",
            "set it to the number of your proxies before the web process; one of them must provide TLS",
        )
    if settings.CRON_SECRET and len(settings.CRON_SECRET) < SHORTEST_SECRET:
        yield warning("cron secret", "CRON_SECRET is short", "use 32 random characters or more")


def check_django() -> Iterator[CheckMessage]:
    """Django's own checks; in production those for deployment as well."""
    messages = [
        message
        for message in django_checks.run_checks(include_deployment_checks=settings.PRODUCTION)
        if not message.is_silenced() and message.level >= django_checks.WARNING
    ]
    for message in messages:
        severity = error if message.level >= django_checks.ERROR else warning
        hint = message.hint or "`manage.py check --deploy` says more"
        yield severity("django", f"{message.id}: {message.msg}", hint)
    if not messages:
        yield ok("django", "no warnings and no errors")
