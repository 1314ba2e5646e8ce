"""Processes of `make up` end with it, and with every process of their group."""

import os
import signal
import subprocess
import sys

import pytest

from config.dev import process
from config.dev.home import open_home
from config.dev.process import Command, Process, stop
from tests.unit.process_tools import eventually, is_alive

IGNORES_TERM = "trap '' TERM; echo ready; while true; do sleep 0.05; done"
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a parent-death signal")


@pytest.fixture
def home(tmp_path):
    home = open_home(tmp_path)
    yield home
    home.close()


def started(home, script, **options):
    shell = Process(home, "shell", Command(arguments=["sh", "-c", script]), **options)
    if "echo" in script:
        assert eventually(lambda: shell.last_lines())
    return shell


def test_a_process_that_stops_is_not_killed(home):
    sleeper = Process(home, "sleeper", Command(arguments=["sleep", "600"]))
    assert stop([sleeper]) == []
    assert sleeper.returncode == -signal.SIGTERM


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM])
def test_each_stop_signal_stops_a_process_even_where_it_was_inherited_as_ignored(home, number):
    before = signal.signal(number, signal.SIG_IGN)
    try:
        sleeper = Process(home, "sleeper", Command(arguments=["sleep", "600"]))
    finally:
        signal.signal(number, before)
    sleeper.signal(number)
    assert eventually(sleeper.has_ended)
    assert sleeper.returncode == -number


def test_a_process_that_does_not_stop_in_time_is_killed_and_named(home):
    assert stop([started(home, IGNORES_TERM, stop_seconds=0.3)]) == ["shell"]


def test_a_second_signal_kills_at_once(home, monkeypatch):
    shell = started(home, IGNORES_TERM, stop_seconds=600.0)  # longer than this test may take
    monkeypatch.setattr(process, "is_stop_repeated", lambda: True)
    assert stop([shell]) == ["shell"]


def test_a_process_left_in_the_group_is_killed(home):
    shell = started(home, "sleep 600 & echo $!")
    grandchild = int(shell.last_lines()[0])
    assert eventually(shell.has_ended)
    assert is_alive(grandchild)
    stop([shell])
    assert eventually(lambda: not is_alive(grandchild))


def test_a_large_log_is_renamed_before_the_process_starts(home, monkeypatch):
    monkeypatch.setattr(process, "LARGEST_LOG", 10)
    (home.logs / "shell.log").write_text("x" * 20)
    shell = started(home, "echo new")
    assert eventually(shell.has_ended)
    assert shell.log.read_text() == "new\n"
    assert (home.logs / "shell.log.1").read_text() == "x" * 20


@on_linux
def test_a_process_ends_when_its_parent_is_killed(tmp_path):
    script = (
        "import sys, time; from pathlib import Path; from config.dev.home import open_home;"
        "from config.dev.process import Command, Process; home = open_home(Path(sys.argv[1]));"
        "sleeper = Process(home, 'sleeper', Command(arguments=['sleep', '600']));"
        "print(sleeper.pid, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    with parent.stdout as stdout:
        orphan = int(stdout.readline())
    assert is_alive(orphan)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert eventually(lambda: not is_alive(orphan))
