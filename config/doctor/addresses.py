"""The ports: whether our web process and Flower answer there, and whether Flower asks who comes."""

import http.client
from collections.abc import Iterator
from urllib.parse import urlsplit

from django.conf import settings

from config import env
from config.dev.home import read_json
from config.doctor.finding import Finding, bad, ok, warn
from config.doctor.patience import in_short

SECONDS = 2.0
SHORTEST_PASSWORD = 12
# The status of an answer, or why there was none.
Answer = int | str


def checks() -> Iterator[Finding]:
    published = credentials()
    web = str(published.get("base_url") or f"http://127.0.0.1:{settings.PORT}")
    of_flower = published.get("flower")
    flower_port = env.integer("FLOWER_PORT", 5555, low=1, high=65_535)
    flower = of_flower.get("url") if isinstance(of_flower, dict) else f"http://127.0.0.1:{flower_port}"
    if flower_port == settings.PORT and not published:
        yield bad("ports", f"PORT and FLOWER_PORT are both {flower_port}", "give one of them another number")
    yield web_process(web, ask(web, "/healthz"), ask(web, "/readyz"))
    yield flowers_door(str(flower), ask(str(flower), "/"))
    yield flowers_password(settings.FLOWER_BASIC_AUTH)


def credentials() -> dict[str, object]:
    """Where `make up` runs its processes, if it does; nothing secret is taken from it."""
    try:
        found = read_json(settings.DURE_HOME / "credentials.json")
    except Exception:  # somebody else's, or damaged: `make up` tells of that
        return {}
    return found if isinstance(found, dict) else {}


def ask(url: str, path: str) -> Answer:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=SECONDS)
    try:
        connection.request("GET", path, headers={"Accept": "*/*"})
        return connection.getresponse().status
    except ConnectionRefusedError:
        return ""
    except (OSError, http.client.HTTPException) as error:
        return in_short(error)
    finally:
        connection.close()


def web_process(url: str, alive: Answer, ready: Answer) -> Finding:
    if alive == "":
        return ok("web", f"nothing listens at {url}: no web process on this machine")
    if alive != http.HTTPStatus.OK:
        return warn(
            "web",
            f"{url} does not answer as ours does ({alive})",
            "end what uses the port, or choose another one: PORT",
        )
    if ready != http.HTTPStatus.OK:
        return bad("web", f"{url} lives, and is not ready ({ready})", f"see {url}/readyz for what it misses")
    return ok("web", f"{url} is ready")


def flowers_door(url: str, answer: Answer) -> Finding:
    """Flower can end tasks and workers: it has to ask who comes."""
    if answer == "":
        return ok("flower", f"nothing listens at {url}: no Flower on this machine")
    if answer in (http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN):
        return ok("flower", f"{url} asks for a password")
    if answer == http.HTTPStatus.OK:
        return bad("flower", f"{url} lets anybody in", "set FLOWER_BASIC_AUTH=user:password and restart it")
    return warn("flower", f"{url} does not answer as Flower does ({answer})", "see its log")


def flowers_password(given: str) -> Finding:
    user, colon, password = given.partition(":")
    if not given:
        return ok("flower password", "FLOWER_BASIC_AUTH is not set here; whoever starts Flower needs it")
    if not user or not colon or len(password) < SHORTEST_PASSWORD:
        return bad(
            "flower password",
            f"FLOWER_BASIC_AUTH is no user:password of {SHORTEST_PASSWORD} characters or more",
            "set it to user:password, the password long and random",
        )
    return ok("flower password", f"set, of {len(password)} characters")
