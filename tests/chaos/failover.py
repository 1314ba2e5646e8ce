"""PostgreSQL fails over to a standby under load: `make chaos ARGS="failover --seed 1"`.

Clients submit graphs over the REST API, and remember what was accepted. The primary is killed with all of
its processes, the standby is promoted some seconds later, and the clients go on. With synchronous
replication everything that was accepted must be there, once, and every promise must hold. With
`--asynchronous` the standby stops receiving before the primary is killed: the answers of that time are
lost, are counted, and must be all that is lost; what is there must end, and keep every promise.
"""

import argparse
import http.client
import json
import random
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from tests.chaos import scenario
from tests.chaos.threads import StoppableThread
from tests.workers import environment

if TYPE_CHECKING:
    from tests.chaos.replication import Replicated

CLIENTS = 3
BEFORE_SECONDS = 8.0
# What the standby does not receive with --asynchronous, and the time without a primary.
BEHIND_SECONDS = 2.0
DOWN_SECONDS = 3.0
AFTER_SECONDS = 10.0
# A client gives up a request after this time and sends it again, with the same key.
ANSWER_SECONDS = 15.0


class Client(StoppableThread):
    """Submits graphs until it is stopped, each until it is accepted, and remembers the ids with the time."""

    def __init__(self, port: int, token: str, offices: list[UUID], graphs: Any, seed: int) -> None:
        super().__init__()
        self.port, self.graphs, self.offices = port, graphs, offices
        self.random = random.Random(seed)
        self.headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}
        self.accepted: list[tuple[float, UUID, list[str]]] = []
        self.refused: list[str] = []
        self.retries = 0

    def run(self) -> None:
        while not self.stop_asked.is_set():
            self.submit(self.random.choice(self.offices), uuid4())
            self.stop_asked.wait(0.7)

    def submit(self, office: UUID, batch: UUID) -> None:
        body = {"jobs": self.graphs(self.random.randint(1, 6)), "batch": {"id": str(batch)}}
        headers = self.headers | {"Idempotency-Key": str(batch)}
        while True:
            try:
                status, answer = self.post(f"/api/offices/{office}/jobs", body, headers)
            except (OSError, http.client.HTTPException, ValueError) as error:
                status, answer = 0, str(error)
            if status == 201:
                self.accepted.append((time.time(), batch, [job["id"] for job in answer["jobs"]]))
                return
            if status not in (0, 409, 503):
                self.refused.append(f"{status}: {answer}")
                return
            self.retries += 1
            time.sleep(0.3)

    def post(self, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS)
        with closing(connection):
            connection.request("POST", path, json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())


def run(options: argparse.Namespace, folder: Path) -> int:
    from tests.chaos.cluster import Cluster
    from tests.chaos.recovery import Recovery
    from tests.chaos.replication import Replicated
    from tests.integration.web_process import running

    servers = Replicated(folder, synchronous=not options.asynchronous)
    witness = scenario.prepare(servers, folder)
    cluster = Cluster(servers, folder, Recovery())
    try:
        with running(folder, "config.web", **environment({"DURE_RATE_USER": "off"})) as web:
            return fail_over(options, cluster, servers, web.port, witness)
    finally:
        cluster.stop()
        servers.stop()
        scenario.keep(options, folder)


def fail_over(
    options: argparse.Namespace, cluster: Any, servers: "Replicated", port: int, witness: Path
) -> int:
    from django.db import connection

    from tests.chaos import checker, history
    from tests.chaos.workload import Workload

    work = Workload(options.seed)
    clients = start_clients(port, work, options.seed)
    time.sleep(BEFORE_SECONDS)
    behind_from = time.time()
    if options.asynchronous:
        servers.pause_replication()
        time.sleep(BEHIND_SECONDS)
    servers.kill_primary()
    killed_at = time.time()
    connection.close()
    time.sleep(DOWN_SECONDS)
    servers.promote()
    print(f"promoted {time.time() - killed_at:.1f} s after the kill", flush=True)
    time.sleep(AFTER_SECONDS)
    for client in clients:
        client.stop()
    work.owners.stop()
    quiet = scenario.wait_for_the_end(options.patience, cluster)
    missing, late = lost(clients, behind_from if options.asynchronous else killed_at + 1e9, killed_at)
    connection.close()
    wrong = checker.check(history.read(witness))
    wrong["nothing_is_lost"] += [f"{job} was accepted and is not there" for job in missing]
    wrong["clients_are_answered"] = [line for client in clients for line in client.refused]
    wrong["everything_ends"] = [] if quiet else ["something had not ended when patience was"]
    accepted = [time for client in clients for time, _, _ in client.accepted]
    again = min((at for at in accepted if at > killed_at), default=0.0) - killed_at
    repeated = sum(client.retries for client in clients)
    print(f"{len(accepted)} submissions accepted, {repeated} requests sent again")
    print(f"accepted again {again:.1f} s after the kill; {len(late)} jobs of the asynchronous gap are lost")
    figures = checker.figures(history.read(witness))
    print(", ".join(f"{value} {name}" for name, value in figures.items()))
    return scenario.print_result(wrong)


def start_clients(port: int, work: Any, seed: int) -> list[Client]:
    from django.contrib.auth.models import User
    from django.utils import timezone

    from jobs.models import ApiToken, Membership
    from jobs.states import MemberRole

    user = User.objects.create_user("client")
    for office in work.made:
        Membership.objects.create(office=office, user=user, role=MemberRole.OWNER)
    _, token = ApiToken.issue(user, "chaos", timezone.now())
    offices = [office.id for office in work.made]
    clients = [Client(port, token, offices, work.graph, seed + number) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    return clients


def lost(clients: list[Client], gap_from: float, gap_until: float) -> tuple[list[str], list[str]]:
    """The accepted jobs that are not there: outside of the gap of asynchronous replication, and in it."""
    from jobs.models import Job

    there = {str(job) for job in Job.objects.values_list("id", flat=True)}
    outside, inside = [], []
    for client in clients:
        for at, _, jobs in client.accepted:
            part = inside if gap_from <= at <= gap_until else outside
            part += [job for job in jobs if job not in there]
    return outside, inside
