"""Tells when a started program does its work, by asking it and not by how its log reads."""

import http.client
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from celery import Celery
from celery.utils.nodenames import host_format

from config.up.preflight import Wishes
from config.up.procfile import Program

NODE_NAME = re.compile(r"^celery\b.*\sworker\b.*\s-n\s+(\S+)")
PROBE_SECONDS = 2.0


@dataclass
class Check:
    """What has to be true; `why_not` tells what was answered last."""

    name: str
    ask: Callable[[], str]
    why_not: str = "not asked yet"

    def is_ready(self) -> bool:
        self.why_not = self.ask()
        return not self.why_not


def checks(programs: Iterable[Program], wishes: Wishes, redis_url: str) -> list[Check]:
    """Those we know how to ask. Any other program is taken as ready while it runs."""
    known = {
        "web": lambda: _http(wishes.reachable_host, wishes.port, "/readyz"),
        "flower": lambda: _http("127.0.0.1", wishes.flower_port, "/healthcheck"),
    }
    found = [Check(program.name, known[program.name]) for program in programs if program.name in known]
    nodes = [host_format(name[1]) for program in programs if (name := NODE_NAME.match(program.command))]
    if nodes:
        found.append(Check("workers", lambda: _ping(redis_url, nodes)))
    return found


def _http(host: str, port: int, path: str) -> str:
    # Not by urllib, which would go through whatever proxy the environment names.
    connection = http.client.HTTPConnection(host, port, timeout=PROBE_SECONDS)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read(500).decode(errors="replace")
        return "" if answer.status == 200 else f"{path} answers {answer.status}: {body}"
    except (OSError, http.client.HTTPException) as error:
        return f"{path} does not answer: {error}"
    finally:
        connection.close()


def _ping(redis_url: str, nodes: list[str]) -> str:
    """An app of its own, so that no settings are needed: pings find every worker of a broker."""
    with Celery(broker=redis_url, set_as_current=False) as app:
        answers = app.control.ping(destination=nodes, timeout=0.5, limit=len(nodes))
    missing = set(nodes) - {name for answer in answers for name in answer}
    return f"{', '.join(sorted(missing))} do not answer" if missing else ""
