"""Checks whether the started programs are ready, by a request to each and not by their logs."""

import http.client
from collections.abc import Callable, Iterable

from config.dev.options import Options
from config.dev.procfile import Program

REQUEST_SECONDS = 2.0

# Returns why a program is not ready; empty if it is.
Check = Callable[[], str]


def checks(programs: Iterable[Program], options: Options, redis_url: str) -> dict[str, Check]:
    """The checks by program. A program without a check counts as ready while it runs."""
    # Celery is imported while the programs start, and not before a mistake in the options is reported.
    from celery.utils.nodenames import host_format

    http_checks = {
        "web": lambda: _check_http(options.reachable_host, options.port, "/readyz"),
        "flower": lambda: _check_http("127.0.0.1", options.flower_port, "/healthcheck"),
    }
    needed = {program.name: http_checks[program.name] for program in programs if program.name in http_checks}
    nodes = [host_format(program.node) for program in programs if program.node]
    if nodes:
        needed["workers"] = lambda: _check_workers(redis_url, nodes)
    return needed


def _check_http(host: str, port: int, path: str) -> str:
    # Not urllib, which would use a proxy of the environment.
    connection = http.client.HTTPConnection(host, port, timeout=REQUEST_SECONDS)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read(500).decode(errors="replace")
        return "" if response.status == 200 else f"{path} answers {response.status}: {body}"
    except (OSError, http.client.HTTPException) as error:
        return f"{path} does not answer: {error}"
    finally:
        connection.close()


def _check_workers(redis_url: str, nodes: list[str]) -> str:
    from celery import Celery

    # An app without settings is enough: a ping reaches every worker of the broker.
    with Celery(broker=redis_url, set_as_current=False) as app:
        replies = app.control.ping(destination=nodes, timeout=0.5, limit=len(nodes))
    missing = set(nodes) - {name for reply in replies for name in reply}
    return f"{', '.join(sorted(missing))} do not answer" if missing else ""
