"""`make dev` forks its programs from a process that has imported the code."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.dev.forks import ForkedProgram, ForkServer, ForkServers
from config.dev.home import Home, open_home
from config.dev.process import Process, stop
from config.dev.procfile import Program
from tests.unit.process_tools import eventually

# None of them connects to anything while the code is imported.
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("DURE_")},
    "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "GREETING": "a b",
}
WRITES = """
import atexit, json, os, sys
atexit.register(print, "the end")
loaded = "jobs.lifecycle" in sys.modules
group = os.getpgid(0) == os.getpid()
print(json.dumps([sys.argv[1:], os.environ["GREETING"], loaded, group, __name__]), flush=True)
sys.exit(3)
"""
SLEEPS = "import time\nprint('ready', flush=True)\ntime.sleep(300)"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = open_home(tmp_path / "var")
    yield home
    home.close()


@pytest.fixture
def fork_servers(home: Home) -> Iterator[ForkServers]:
    fork_servers = ForkServers(home, ENVIRONMENT)
    assert eventually(fork_servers.current.has_answered, 60)
    yield fork_servers
    fork_servers.close()


def started(home: Home, fork_server: ForkServer, program: Program) -> Process:
    assert fork_server.can_start(program)
    return Process(home, program.name, ForkedProgram(fork_server, program))


def script(folder: Path, text: str) -> str:
    path = folder / "script.py"
    path.write_text(text)
    return f"python {path}"


def test_a_program_has_its_arguments_its_log_and_the_code_that_was_imported(home, fork_servers, tmp_path):
    command = f"""{script(tmp_path, WRITES)} $GREETING "$GREETING" ${{NOTHING:-else}}"""
    process = started(home, fork_servers.current, Program("writer", command))
    assert eventually(process.has_ended, 60)
    assert process.returncode == 3
    answer, end = process.log.read_text().splitlines()
    assert json.loads(answer) == [["a", "b", "a b", "else"], "a b", True, True, "__main__"]
    assert end == "the end"


def test_a_program_is_stopped_by_its_signal_and_the_next_one_has_the_code_of_then(
    home, fork_servers, tmp_path
):
    first = fork_servers.current
    process = started(home, first, Program("sleeper", script(tmp_path, SLEEPS)))
    assert eventually(lambda: "ready" in process.log.read_text(), 60)
    fork_servers.prepare_next()
    fork_servers.replace()
    assert eventually(fork_servers.current.has_answered, 60)
    assert fork_servers.current is not first
    assert not process.has_ended(), "it ends when it is told to"
    assert stop([process]) == []
    assert process.returncode == -signal.SIGTERM
    fork_servers.prepare_next()
    assert eventually(first.process.has_ended, 60)
    assert started(home, fork_servers.current, Program("other", script(tmp_path, SLEEPS))).pid


def test_the_programs_end_with_the_process_that_has_started_them(home, fork_servers, tmp_path):
    process = started(home, fork_servers.current, Program("sleeper", script(tmp_path, SLEEPS)))
    fork_servers.current.process.kill_group()
    assert eventually(process.has_ended, 60)
    assert process.returncode == -signal.SIGKILL
    if sys.platform.startswith("linux"):
        assert eventually(lambda: not Path(f"/proc/{process.pid}/exe").exists(), 60)


def test_nothing_of_the_checkout_is_imported_before_a_change(home):
    fork_server = ForkServer(home, ENVIRONMENT, ["json", "jobs.redis", "config.celery", "dure"])

    def has_prepared() -> bool:
        fork_server.read()
        return fork_server.prepared is not None

    assert eventually(has_prepared, 60)
    assert set(fork_server.prepared or ()) <= {"__main__", "__mp_main__"}
    fork_server.close()


def test_a_command_that_needs_a_shell_or_another_program_is_executed(fork_servers):
    assert fork_servers.current.can_start(Program("other", "python x"))
    for command in ("celery", "python x | cat", "python x; y", "X=1 python x", "node x"):
        assert not fork_servers.current.can_start(Program("other", command)), command
