"""`manage.py doctor` ends in a few seconds whatever hangs, prints no secret, and sets its exit code."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from config.dev.ports import free_port
from config.doctor import report
from jobs import diagnostics
from jobs.diagnostics import Subject, error, ok, warning
from jobs.threads import call_within
from tests.integration.commands import run_process

SECRET = "geheim-0123456789"


def servers_at(port: int) -> dict[str, str]:
    return {
        "DATABASE_URL": f"postgresql://dure:{SECRET}@127.0.0.1:{port}/dure",
        "REDIS_URL": f"redis://:{SECRET}@127.0.0.1:{port}/0",
    }


@pytest.fixture
def frozen() -> Iterator[int]:
    """The port of a server that accepts connections and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


# --- the command -------------------------------------------------------------------------------------


def test_servers_that_do_not_answer_are_reported_without_a_traceback_or_password():
    done = run_process("doctor", **servers_at(free_port()))
    assert done.returncode == report.ERRORS
    assert done.stderr == ""
    assert "bad   postgresql" in done.stdout and "bad   redis" in done.stdout
    assert "not checked, because of postgresql and redis" in done.stdout
    assert "Traceback" not in done.stdout
    assert SECRET not in done.stdout


def test_servers_that_hang_do_not_hang_the_command(frozen):
    done = run_process("doctor", **servers_at(frozen))
    assert done.returncode == report.ERRORS
    assert done.stderr == ""
    assert SECRET not in done.stdout


def test_every_problem_of_the_settings_is_reported():
    done = run_process(
        "doctor", "--json", DURE_ENV="production", DURE_SECRET_KEY=SECRET, DURE_LEASE_SECOND="3"
    )
    assert done.returncode == report.ERRORS
    assert done.stderr == ""
    assert SECRET not in done.stdout
    findings = json.loads(done.stdout)["findings"]
    errors = [finding["found"] for finding in findings if finding["level"] == "bad"]
    assert any("DURE_SECRET_KEY is shorter" in text for text in errors)
    assert any("DURE_ALLOWED_HOSTS" in text for text in errors)
    assert any(
        "DURE_LEASE_SECOND is set" in finding["found"] for finding in findings if finding["level"] == "warn"
    )


def test_a_malformed_value_is_reported_by_every_command_in_one_line():
    done = run_process("jobs", DURE_LEASE_SECONDS="soon")
    assert done.returncode == 1
    assert done.stderr == "Cannot start: DURE_LEASE_SECONDS must be a number of seconds; got 'soon'.\n"


# --- the round ---------------------------------------------------------------------------------------


@pytest.fixture
def run(monkeypatch):
    """Runs checks, by subject, and returns the level and text of each message."""

    def run(checks, *subjects: Subject) -> list[tuple[str, str, str]]:
        monkeypatch.setattr(diagnostics, "_checks", checks)
        return [
            (subject, report.level(message), message.msg) for subject, message in diagnostics.run(subjects)
        ]

    return run


def must_not_run():
    raise AssertionError


def test_a_subject_that_needs_a_failed_one_is_skipped_with_the_reason(run):
    checks = {
        "server": [lambda: [error("connection", "no answer", "start it")], must_not_run],
        "schema": [must_not_run],
        "workers": [must_not_run],
        "disk": [lambda: [ok("disk", "empty")]],
    }
    subjects = (
        Subject("server", is_server=True),
        Subject("schema", needs=("server",)),
        Subject("workers", needs=("schema",)),
        Subject("disk"),
    )
    assert run(checks, *subjects) == [
        ("server", "bad", "no answer"),
        ("schema", "warn", "not checked, because of server"),
        ("workers", "warn", "not checked, because of server"),
        ("disk", "ok", "empty"),
    ]


def test_an_unhealthy_server_that_answers_does_not_block_other_subjects(run):
    checks = {
        "server": [lambda: [ok("connection", "answers")], lambda: [error("durability", "off", "turn it on")]],
        "workers": [lambda: [warning("workers", "few", "start some")]],
    }
    results = run(checks, Subject("server", is_server=True), Subject("workers", needs=("server",)))
    assert results[-1] == ("workers", "warn", "few")


def test_a_check_that_raises_is_reported_and_the_others_continue(run):
    def fails():
        yield ok("first", "fine")
        raise RuntimeError("unexpected\nin two lines")

    assert run({"odd": [fails, lambda: [ok("next", "fine")]]}, Subject("odd")) == [
        ("odd", "ok", "fine"),
        ("odd", "bad", "could not be checked: RuntimeError: unexpected"),
        ("odd", "ok", "fine"),
    ]


@pytest.mark.parametrize(
    "messages, strict, code",
    [
        ([], False, 0),
        ([ok("a", "")], True, 0),
        ([ok("a", ""), warning("b", "", "")], False, 1),
        ([ok("a", ""), warning("b", "", "")], True, 2),
        ([warning("b", "", ""), error("c", "", ""), ok("a", "")], False, 2),
    ],
)
def test_the_exit_code_is_that_of_the_worst_message(messages, strict, code):
    assert report.exit_code([("subject", message) for message in messages], strict=strict) == code


def test_messages_of_drivers_are_printed_on_one_line_without_secrets():
    message = error("connection", f"redis://:{SECRET}@host/0\x1b[31m\nin two lines", f"password={SECRET}")
    document = json.dumps(report.document([("redis", message)]))
    for line in [*report.lines("redis", message), document]:
        assert SECRET not in line
        assert "\n" not in line
        assert "\x1b" not in line


def test_call_within_returns_the_result_or_raises_and_ends_when_nothing_answers():
    assert call_within(60.0, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        call_within(60.0, lambda: 1 / 0)
    never_set = threading.Event()
    with pytest.raises(TimeoutError):
        call_within(0.05, never_set.wait)
    never_set.set()
