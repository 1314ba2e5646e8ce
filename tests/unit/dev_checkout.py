"""A small checkout with its own programs, for tests of `make up`."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from config.dev.ports import free_port
from tests.unit.process_tools import eventually, processes_with_mark

CHECKOUT = Path(__file__).resolve().parents[2]
DEMO = """
import json, os, sys
if "--admin-only" in sys.argv:
    print(json.dumps({"users": json.loads(os.environ["DURE_DEMO_USERS"])[:1], "office_id": None}))
    sys.exit()
print("creating demo data", file=sys.stderr)
if why := os.environ.get("BREAK_DEMO"):
    sys.exit(why)
print(json.dumps({"users": json.loads(os.environ["DURE_DEMO_USERS"]), "office_id": "office-1"}))
"""
WEB = """
import http.server, sys
class Web(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *args):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Web).serve_forever()
"""


class Checkout:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.home = path / "var"
        shutil.copytree(CHECKOUT / "config", path / "config", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(CHECKOUT / "jobs", path / "jobs", ignore=shutil.ignore_patterns("__pycache__"))
        (path / "manage.py").write_text(DEMO)
        (path / "web.py").write_text(WEB)
        self.programs(web="python web.py $PORT")

    def programs(self, **commands: str) -> None:
        lines = [f"{name}: {command}" for name, command in commands.items()]
        (self.path / "Procfile").write_text("\n".join(lines) + "\n")

    def script(self, name: str, text: str) -> str:
        """A command that runs this script, with the checkout's path on its command line."""
        path = self.path / f"{name}.py"
        path.write_text(text)
        return f"python {path}"

    def environment(self, **more: str) -> dict[str, str]:
        ports = {"PORT": str(free_port()), "FLOWER_PORT": str(free_port())}
        unset = ("DURE_ENV", "DURE_HOME", "PYTHONPATH")
        inherited = {name: value for name, value in os.environ.items() if name not in unset}
        return inherited | ports | {"LOGS": "1"} | more

    def run(self, **more: str) -> "subprocess.CompletedProcess[str]":
        """Runs `make up` until it ends by itself."""
        return subprocess.run(
            [sys.executable, "-m", "config.dev.up"],
            cwd=self.path,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def start(self, output: str = "output", **more: str) -> "Up":
        path = self.path / output
        with path.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "config.dev.up"],
                cwd=self.path,
                env=self.environment(**more),
                stdout=file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )
        return Up(self, process, path)

    def alive(self) -> set[int]:
        return processes_with_mark(str(self.path))


class Up:
    """A running `make up`."""

    def __init__(self, checkout: Checkout, process: "subprocess.Popen[bytes]", path: Path) -> None:
        self.checkout = checkout
        self.path = path
        self.process = process

    @property
    def output(self) -> str:
        return self.path.read_text()

    def wait_for(self, words: str) -> "Up":
        assert eventually(lambda: words in self.output or self.process.poll() is not None, 60), self.output
        assert words in self.output, self.output
        return self

    def wait_until_up(self) -> "Up":
        return self.wait_for("Ctrl-C stops everything")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)

    def credentials(self) -> dict[str, Any]:
        return dict(json.loads((self.checkout.home / "credentials.json").read_text()))
