"""The doctor's round: it ends in a few seconds whatever hangs, tells no secret, and answers by exit code."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from config.dev.ports import free_port
from config.doctor import checkup, report
from config.doctor.checkup import Subject
from config.doctor.finding import bad, ok, warn
from config.doctor.patience import NoAnswer, within

ROOT = Path(__file__).resolve().parents[2]
SECRET = "geheim-0123456789"
# Both servers frozen: each is waited for, one after the other; and the start of Python.
A_FEW_SECONDS = 15.0


def doctor(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "doctor", *words],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def servers_at(port: int) -> dict[str, str]:
    return {
        "DATABASE_URL": f"postgresql://dure:{SECRET}@127.0.0.1:{port}/dure",
        "REDIS_URL": f"redis://:{SECRET}@127.0.0.1:{port}/0",
    }


@pytest.fixture
def frozen() -> Iterator[int]:
    """The port of a server that takes connections and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


# --- the command -------------------------------------------------------------------------------------


def test_servers_that_are_away_are_told_without_a_traceback_and_without_their_passwords():
    said = doctor(**servers_at(free_port()))
    assert said.returncode == report.SOMETHING_BAD
    assert said.stderr == ""
    assert "bad   postgresql" in said.stdout and "bad   redis" in said.stdout
    assert "not looked at, because of postgresql and redis" in said.stdout
    assert "Traceback" not in said.stdout
    assert SECRET not in said.stdout


def test_servers_that_hang_are_not_waited_for_long(frozen):
    began = time.monotonic()
    said = doctor(**servers_at(frozen))
    assert time.monotonic() - began < A_FEW_SECONDS
    assert said.returncode == report.SOMETHING_BAD
    assert said.stderr == ""
    assert SECRET not in said.stdout


def test_settings_that_refuse_to_load_are_told_one_by_one():
    said = doctor("--json", DURE_ENV="production", DURE_SECRET_KEY=SECRET, DURE_LEASE_SECOND="3")
    assert said.returncode == report.SOMETHING_BAD
    assert said.stderr == ""
    assert SECRET not in said.stdout
    found = json.loads(said.stdout)["findings"]
    refused = [one["found"] for one in found if one["level"] == "bad"]
    assert any("DURE_SECRET_KEY is shorter" in text for text in refused)
    assert any("DURE_ALLOWED_HOSTS" in text for text in refused)
    assert any("DURE_LEASE_SECOND is set" in one["found"] for one in found if one["level"] == "warn")


def test_a_malformed_value_is_told_by_every_command_in_one_line():
    said = subprocess.run(
        [sys.executable, "manage.py", "jobs"],
        cwd=ROOT,
        env={**os.environ, "DURE_LEASE_SECONDS": "soon"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert said.returncode == 1
    assert said.stderr == "Cannot start: DURE_LEASE_SECONDS must be a number of seconds; got 'soon'.\n"


# --- the round ---------------------------------------------------------------------------------------


@pytest.fixture
def subjects(monkeypatch):
    """The round over other subjects than the real ones."""

    def put(*found: Subject) -> list[tuple[str, str, str]]:
        monkeypatch.setattr(checkup, "SUBJECTS", found)
        return [(subject, str(one.level), one.found) for subject, one in checkup.examine()]

    return put


def test_what_needs_something_bad_is_not_looked_at_and_told_why(subjects):
    def never():
        raise AssertionError

    told = subjects(
        Subject("server", (never,), door=lambda: bad("connection", "away", "start it")),
        Subject("schema", (never,), needs=("server",)),
        Subject("workers", (never,), needs=("schema",)),
        Subject("disk", (lambda: [ok("disk", "empty")],)),
    )
    assert told == [
        ("server", "bad", "away"),
        ("schema", "warn", "not looked at, because of server"),
        ("workers", "warn", "not looked at, because of server"),
        ("disk", "ok", "empty"),
    ]


def test_a_server_that_answers_is_needed_for_its_answer_and_not_for_its_health(subjects):
    told = subjects(
        Subject(
            "server",
            (lambda: [bad("durability", "off", "turn it on")],),
            door=lambda: ok("connection", "answers"),
        ),
        Subject("workers", (lambda: [warn("workers", "few", "start some")],), needs=("server",)),
    )
    assert told[-1] == ("workers", "warn", "few")


def test_a_check_that_breaks_is_a_finding_and_the_others_go_on(subjects):
    def breaks():
        yield ok("first", "fine")
        raise RuntimeError("unheard of\nin two lines")

    told = subjects(Subject("odd", (breaks, lambda: [ok("next", "fine")])))
    assert told == [
        ("odd", "ok", "fine"),
        ("odd", "bad", "could not be looked at: RuntimeError: unheard of"),
        ("odd", "ok", "fine"),
    ]


@pytest.mark.parametrize(
    "found, strict, code",
    [
        ([], False, 0),
        ([ok("a", "")], True, 0),
        ([ok("a", ""), warn("b", "", "")], False, 1),
        ([ok("a", ""), warn("b", "", "")], True, 2),
        ([warn("b", "", ""), bad("c", "", ""), ok("a", "")], False, 2),
    ],
)
def test_the_exit_code_is_that_of_the_worst(found, strict, code):
    assert report.exit_code([("subject", one) for one in found], strict=strict) == code


def test_what_drivers_say_is_told_on_one_line_and_without_secrets():
    said = bad("connection", f"redis://:{SECRET}@host/0\x1b[31m\nin two lines", f"password={SECRET}")
    for line in [*report.lines("redis", said), json.dumps(report.document([("redis", said)]))]:
        assert SECRET not in line
        assert "\n" not in line and "\x1b" not in line


# --- patience ----------------------------------------------------------------------------------------


def test_an_answer_and_an_error_come_through_and_silence_ends():
    assert within(1.0, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(1.0, lambda: 1 / 0)
    never = threading.Event()
    with pytest.raises(NoAnswer):
        within(0.05, never.wait)
    never.set()
