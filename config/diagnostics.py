"""Checks of the installed packages, the settings, and the addresses of the web process and of Flower."""

import difflib
import http.client
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks as django_checks
from django.core.checks import CheckMessage
from packaging.markers import Marker

from config import env
from config.dev.home import read_json
from jobs.diagnostics import error, ok, register, warning
from jobs.texts import first_line

CHECKOUT = Path(__file__).resolve().parents[1]
LOCK = CHECKOUT / "requirements.txt"
OLDEST_PYTHON = (3, 11)
# name==version, optionally followed by `; marker`, and by a backslash before the hashes.
PINNED = re.compile(
    r"^([A-Za-z0-9_.-]+)(?:\[[^]]*\])?==([^\s;\\]+)\s*(?:;\s*([^\\]+?))?\s*\\?$", re.MULTILINE
)
MAX_LISTED = 5
INSTALL = "run `make up` once, or `pip install --require-hashes -r requirements.txt`"
PREFIX = "DURE_"
# A variable in the code that reads it: env.text(…), os.environ, or a constant.
VARIABLE = re.compile(rf'"({PREFIX}[A-Z0-9_]+)"')
# Only compose.yaml reads them.
COMPOSE_ONLY = {"DURE_IMAGE"}
PACKAGES = ("config", "jobs", "scheduler", "exports", "workers")
SHORTEST_PASSWORD = 12
REQUEST_SECONDS = 2.0

# The status of an HTTP response, or why there was none; empty if nothing listens there.
Response = int | str


# --- packages ------------------------------------------------------------------------------------------


@register("packages")
def check_installation() -> Iterator[CheckMessage]:
    yield check_python(sys.version_info[:3])
    if LOCK.exists():
        yield check_packages(locked_versions(LOCK.read_text()), installed_version)
    else:
        yield ok("packages", "no requirements.txt to compare with: as in the image")


def check_python(version: tuple[int, ...]) -> CheckMessage:
    number = ".".join(map(str, version))
    if version[:2] < OLDEST_PYTHON:
        return error("python", number, f"use Python {'.'.join(map(str, OLDEST_PYTHON))} or newer")
    return ok("python", number)


def check_packages(locked: dict[str, str], version_of: Callable[[str], str | None]) -> CheckMessage:
    installed = {name: version_of(name) for name in locked}
    missing = [f"{name} {locked[name]}" for name, version in installed.items() if version is None]
    other = [
        f"{name} {version} instead of {locked[name]}"
        for name, version in installed.items()
        if version not in (None, locked[name])
    ]
    if missing:
        return error("packages", f"missing: {_shorten(missing)}", INSTALL)
    if other:
        return warning("packages", f"not as locked: {_shorten(other)}", INSTALL)
    return ok("packages", f"all {len(locked)} as locked")


def locked_versions(text: str) -> dict[str, str]:
    """The version of each package that the lock requires on this machine."""
    return {
        name: version
        for name, version, marker in PINNED.findall(text)
        if not marker or Marker(marker).evaluate()
    }


def installed_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _shorten(names: list[str]) -> str:
    more = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


# --- settings ------------------------------------------------------------------------------------------


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
    if settings.CRON_SECRET and len(settings.CRON_SECRET) < SHORTEST_PASSWORD:
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


# --- addresses -----------------------------------------------------------------------------------------


@register("addresses")
def check_addresses() -> Iterator[CheckMessage]:
    credentials = _credentials_of_make_up()
    web = str(credentials.get("base_url") or f"http://127.0.0.1:{settings.PORT}")
    published = credentials.get("flower")
    flower_port = env.integer("FLOWER_PORT", 5555, low=1, high=65_535)
    flower = published.get("url") if isinstance(published, dict) else f"http://127.0.0.1:{flower_port}"
    if flower_port == settings.PORT and not credentials:
        yield error("ports", f"PORT and FLOWER_PORT are both {flower_port}", "change one of them")
    yield check_web(web, _get(web, "/healthz"), _get(web, "/readyz"))
    yield check_flower(str(flower), _get(str(flower), "/"))
    yield check_flower_password(settings.FLOWER_BASIC_AUTH)


def _credentials_of_make_up() -> dict[str, object]:
    """The credentials of a running `make up`, for its addresses; no check uses the secrets."""
    try:
        credentials = read_json(settings.DURE_HOME / "credentials.json")
    except Exception:  # another user's, or damaged: `make up` reports that
        return {}
    return credentials if isinstance(credentials, dict) else {}


def _get(url: str, path: str) -> Response:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=REQUEST_SECONDS)
    try:
        connection.request("GET", path, headers={"Accept": "*/*"})
        return connection.getresponse().status
    except ConnectionRefusedError:
        return ""
    except (OSError, http.client.HTTPException) as problem:
        return first_line(problem)
    finally:
        connection.close()


def check_web(url: str, alive: Response, ready: Response) -> CheckMessage:
    if alive == "":
        return ok("web", f"nothing listens at {url}: no web process on this machine")
    if alive != http.HTTPStatus.OK:
        hint = "stop what uses the port, or choose another one: PORT"
        return warning("web", f"{url} does not answer like our web process ({alive})", hint)
    if ready != http.HTTPStatus.OK:
        return error("web", f"{url} is alive, and not ready ({ready})", f"see {url}/readyz for the reason")
    return ok("web", f"{url} is ready")


def check_flower(url: str, response: Response) -> CheckMessage:
    """Flower can end tasks and workers, so it must require a password."""
    if response == "":
        return ok("flower", f"nothing listens at {url}: no Flower on this machine")
    if response in (http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN):
        return ok("flower", f"{url} requires a password")
    if response == http.HTTPStatus.OK:
        hint = "set FLOWER_BASIC_AUTH=user:password and restart it"
        return error("flower", f"{url} requires no password", hint)
    return warning("flower", f"{url} does not answer like Flower ({response})", "see its log")


def check_flower_password(value: str) -> CheckMessage:
    user, colon, password = value.partition(":")
    if not value:
        return ok("flower password", "FLOWER_BASIC_AUTH is not set here; Flower's own process needs it")
    if not user or not colon or len(password) < SHORTEST_PASSWORD:
        return error(
            "flower password",
            f"FLOWER_BASIC_AUTH is not user:password with {SHORTEST_PASSWORD} characters or more",
            "set it to user:password, with a long random password",
        )
    return ok("flower password", f"set, with {len(password)} characters")
