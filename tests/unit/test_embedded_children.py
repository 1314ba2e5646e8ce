"""Processes we start: tied to our life, ended with all they have started, and known again later."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from config.embedded import child, identity, interruption
from config.embedded.child import Farewell
from config.embedded.home import open_home
from config.embedded.ledger import Ledger
from tests.unit.process_tools import eventually, is_alive

DEAF = "trap '' TERM; echo deaf; while true; do sleep 0.05; done"
QUICK = Farewell(steps=((signal.SIGTERM, 0.3),))
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a parent-death signal")


def first_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    with process.stdout as stdout:
        return stdout.readline()


def start(*command, farewell=None, output=subprocess.DEVNULL):
    return child.start(command[0], command, output=output, farewell=farewell)


def test_what_ends_when_asked_is_not_killed():
    sleeper = start("sleep", "60")
    began = time.monotonic()
    assert child.stop([sleeper]) == []
    assert sleeper.process.returncode == -signal.SIGTERM
    assert time.monotonic() - began < 5


def test_what_does_not_listen_is_killed_when_its_time_is_up_and_named():
    deaf = start("sh", "-c", DEAF, farewell=QUICK, output=subprocess.PIPE)
    assert first_line(deaf.process) == b"deaf\n"
    deaf.name = "stubborn"
    assert child.stop([deaf]) == ["stubborn"]


def test_a_second_wish_to_stop_kills_at_once(monkeypatch):
    deaf = start("sh", "-c", DEAF, farewell=Farewell(steps=((signal.SIGTERM, 60.0),)))
    monkeypatch.setattr(interruption, "is_impatient", lambda: True)
    began = time.monotonic()
    assert child.stop([deaf]) == ["sh"]
    assert time.monotonic() - began < 5


def test_the_steps_of_a_farewell_follow_one_another():
    script = "trap '' INT; trap 'exit 7' QUIT; echo up; while true; do sleep 0.05; done"
    stepped = start(
        "sh",
        "-c",
        script,
        farewell=Farewell(steps=((signal.SIGINT, 0.2), (signal.SIGQUIT, 10.0))),
        output=subprocess.PIPE,
    )
    assert first_line(stepped.process) == b"up\n"
    assert child.stop([stepped]) == []
    assert stepped.process.returncode == 7


def test_what_a_child_leaves_in_its_group_ends_with_it():
    parent = start("sh", "-c", "sleep 60 & echo $!", output=subprocess.PIPE)
    grandchild = int(first_line(parent.process))
    parent.process.wait(10)
    assert is_alive(grandchild)
    child.stop([parent])
    assert eventually(lambda: not is_alive(grandchild))


@on_linux
def test_a_child_ends_when_its_parent_is_killed_without_a_word():
    script = (
        "import subprocess, time; from config.embedded import child;"
        "c = child.start('sleep', ['sleep', '60'], output=subprocess.DEVNULL);"
        "print(c.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    orphan = int(first_line(parent))
    assert is_alive(orphan)
    parent.kill()
    parent.wait()
    assert eventually(lambda: not is_alive(orphan))


def test_a_number_that_went_to_another_process_is_not_taken_for_the_first():
    ours = identity.of(os.getpid())
    assert identity.is_alive(os.getpid(), ours)
    assert not identity.is_alive(os.getpid(), ours + "1")
    assert not identity.is_alive(os.getpid(), "")


def test_an_ended_child_that_nobody_buried_yet_counts_as_ended():
    brief = subprocess.Popen(["true"])
    assert eventually(lambda: identity.of(brief.pid) == "")
    brief.wait()


def written_by_a_run_that_crashed(home: Path, pid: int, known: str, folder: Path) -> None:
    entry = {"name": "redis", "pid": pid, "identity": known}
    (home / "running.json").write_text(json.dumps({"processes": [entry], "folders": [str(folder)]}))


def test_the_next_start_ends_what_a_crash_left_behind_and_nothing_else(tmp_path):
    home = open_home(tmp_path / "home")
    left, stranger = subprocess.Popen(["sleep", "60"]), subprocess.Popen(["sleep", "60"])
    folder = tmp_path / "sockets"
    folder.mkdir()

    written_by_a_run_that_crashed(home.path, stranger.pid, "another boot:123", folder)
    assert Ledger(home).end_leftovers() == []
    assert stranger.poll() is None
    assert not folder.exists()

    written_by_a_run_that_crashed(home.path, left.pid, identity.of(left.pid), folder)
    assert Ledger(home).end_leftovers() == ["redis"]
    assert left.wait(10) == -signal.SIGTERM
    assert not (home.path / "running.json").exists()

    stranger.kill()
    stranger.wait()
    home.close()
