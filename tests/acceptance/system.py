"""The whole system as `make up` starts it, on its own ports and in its own home."""

import base64
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psutil
import psycopg2

from config.dev.ports import free_port
from config.dev.process import prepare
from config.dev.with_servers import EMBEDDED_VARIABLES
from tests.unit.process_tools import eventually

CHECKOUT = Path(__file__).resolve().parents[2]
# The start of everything, on a busy machine.
UP_SECONDS = 240.0
DOWN_SECONDS = 120.0
# A request may ask to be answered after a minute.
REQUEST_SECONDS = 90.0


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """An HTTP client with a user's credentials, or none."""

    def __init__(self, base_url: str, authorization: str = "") -> None:
        self.base_url = base_url
        self.headers = {"Authorization": authorization} if authorization else {}
        # Proxies of the environment do not apply to loopback addresses.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def get(self, path: str) -> Answer:
        return self.send("GET", path)

    def post(self, path: str, body: Any = None) -> Answer:
        return self.send("POST", path, body)

    def create(self, path: str, body: Any = None) -> Any:
        """The document of what a POST has created or started."""
        answer = self.post(path, body)
        assert answer.status in (200, 201, 202), (path, answer.body)
        return answer.json

    def send(self, method: str, path: str, body: Any = None) -> Answer:
        data = None if body is None else json.dumps(body).encode()
        headers = self.headers | ({} if data is None else {"Content-Type": "application/json"})
        request = urllib.request.Request(self.base_url + path, data, headers, method=method)
        try:
            with self.opener.open(request, timeout=REQUEST_SECONDS) as response:
                return Answer(response.status, response.read(), dict(response.headers))
        except urllib.error.HTTPError as refusal:
            with refusal:
                return Answer(refusal.code, refusal.read(), dict(refusal.headers))


class System:
    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.log = folder / "output"
        self.port = free_port()
        self.flower_port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        # Of the users that have signed in with a browser.
        self.cookies: dict[str, list[dict[str, Any]]] = {}

    def environment(self) -> dict[str, str]:
        """Omits the servers that `make test` started, so that the system starts its own. It uses servers
        that were named for the suite."""
        unset = {"DURE_ENV", "DURE_HOME", EMBEDDED_VARIABLES, *os.environ.get(EMBEDDED_VARIABLES, "").split()}
        inherited = {name: value for name, value in os.environ.items() if name not in unset}
        ours = {"DURE_HOME": self.home, "PORT": self.port, "FLOWER_PORT": self.flower_port}
        # The browser tests sign in as the same few users many times.
        ours |= {"DURE_RATE_LOGIN": "1000/min"}
        # How long a worker drains is tested in tests/integration/test_runner_stopping.py.
        ours |= {"DURE_DRAIN_SECONDS": "1"}
        # For receivers of webhooks that the tests start.
        ours |= {"DURE_HTTP_ALLOW": "127.0.0.1/32"}
        # The Tasks that the guides write.
        ours |= {"DURE_WORKER_MODULES": "tests.acceptance.guide_tasks"}
        return inherited | {name: str(value) for name, value in ours.items()}

    def start(self) -> None:
        environment = self.environment()
        if "DATABASE_URL" in environment:
            _make_database(environment["DATABASE_URL"])
        with self.log.open("ab") as output:
            before, tests = self.boxes(), os.getpid()
            self.process = subprocess.Popen(
                [sys.executable, "-m", "config.dev.up"],
                cwd=CHECKOUT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # It stops when the tests are killed.
                preexec_fn=lambda: prepare(tests, signal.SIGTERM),
            )
        assert eventually(lambda: self.boxes() > before or self.has_ended(), UP_SECONDS), self.output
        assert not self.has_ended(), self.output

    def boxes(self) -> int:
        return self.output.count("Ctrl-C stops everything")

    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def stop(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(DOWN_SECONDS)

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    @property
    def credentials(self) -> dict[str, Any]:
        return dict(json.loads((self.home / "credentials.json").read_text()))

    @property
    def base_url(self) -> str:
        return str(self.credentials["base_url"])

    @property
    def office_id(self) -> str:
        return str(self.credentials["office_id"])

    def user(self, username: str) -> dict[str, str]:
        return next(user for user in self.credentials["users"] if user["username"] == username)

    def client(self, username: str = "") -> Client:
        """A client with this user's token; without a name, one without credentials."""
        return Client(self.base_url, f"Token {self.user(username)['token']}" if username else "")

    def flower(self, *, signed_in: bool) -> Client:
        flower = self.credentials["flower"]
        login = base64.b64encode(f"{flower['user']}:{flower['password']}".encode()).decode()
        return Client(flower["url"], f"Basic {login}" if signed_in else "")

    def processes(self) -> dict[int, tuple[str, str]]:
        """The name and the command line of each process that has its home there or in its environment."""
        processes = {}
        for process in psutil.process_iter():
            try:
                command, environment = " ".join(process.cmdline()), process.environ()
                name = process.name()
            except psutil.Error:
                continue
            if process.pid != os.getpid() and (
                str(self.home) in command or environment.get("DURE_HOME") == str(self.home)
            ):
                processes[process.pid] = (name, command)
        return processes


def worker_of_jobs(client: Client) -> str:
    """The worker that runs the jobs of these tests: members have pages of no other."""
    workers = client.get("/api/scheduler/monitor").json["workers"]
    return str(next(row["name"] for row in workers if "default" in row["roles"]))


def _make_database(url: str) -> None:
    """Creates the database that DATABASE_URL names, unless it exists."""
    parts = urlsplit(url)
    with closing(psycopg2.connect(urlunsplit(parts._replace(path="/postgres")))) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            name = parts.path.lstrip("/")
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
            if not cursor.fetchone():
                cursor.execute(f'CREATE DATABASE "{name}"')
