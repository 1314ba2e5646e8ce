"""Checks of the addresses of the web process and of Flower."""

import http.client
from collections.abc import Iterator
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage

from config.dev import CREDENTIALS
from config.dev.home import read_json
from jobs.diagnostics import error, ok, register, warning
from jobs.texts import first_line

SHORTEST_PASSWORD = 12
REQUEST_SECONDS = 2.0

# The status of an HTTP response, or why there was none; empty if nothing listens there.
Response = int | str


@register("addresses")
def check_addresses() -> Iterator[CheckMessage]:
    credentials = _credentials_of_make_up()
    web = str(credentials.get("base_url") or f"http://127.0.0.1:{settings.PORT}")
    published = credentials.get("flower")
    own_flower = f"http://127.0.0.1:{settings.FLOWER_PORT}"
    flower = published.get("url") if isinstance(published, dict) else own_flower
    if settings.FLOWER_PORT == settings.PORT and not credentials:
        yield error("ports", f"PORT and FLOWER_PORT are both {settings.PORT}", "change one of them")
    yield check_web(web, _get(web, "/healthz"), _get(web, "/readyz"))
    yield check_flower(str(flower), _get(str(flower), "/"))
    yield check_flower_password(settings.FLOWER_BASIC_AUTH)


def _credentials_of_make_up() -> dict[str, object]:
    """The credentials of a running `make up`, for its addresses; no check uses the secrets."""
    try:
        credentials = read_json(settings.DURE_HOME / CREDENTIALS)
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
