"""dure.testing: a Task in a test runs as a worker would run it."""

import logging
import subprocess
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from dure import Context, GitConflict, InvalidArgs, Stopped, TaskFailure, definitions, task
from dure.testing import FakeContext, LogLine, run

notes: list[Any] = []


@pytest.fixture(autouse=True)
def empty_notes():
    notes.clear()


@task("sdk.pack", timeout=60)
def pack(ctx: Context, order: Annotated[int, Field(ge=1)], day: date = date(2026, 1, 1)) -> dict[str, Any]:
    """Packs an order."""
    ctx.session("line 3")
    ctx.progress(0.5, "half of it")
    ctx.logger.info("order %s", order)
    print("packed")
    ctx.progress(1.0)
    return {"order": order, "day": day.isoformat(), "boxes": (1, 2)}


@task("sdk.fail", max_retries=1, autoretry_for=(ValueError, TaskFailure))
def fail(ctx: Context, kind: Literal["value", "key", "task", "git", "exit"]) -> None:
    if kind == "exit":
        raise SystemExit(3)
    kinds = {"value": ValueError, "key": KeyError, "task": TaskFailure, "git": GitConflict}
    raise kinds[kind]("as asked")


@task("sdk.read")
def read(ctx: Context) -> Any:
    due = ctx.scheduled_for
    return [dict(ctx.results), ctx.input, due and due.isoformat(), ctx.attempt, ctx.cancelled]


@task("sdk.say")
def say(ctx: Context) -> None:
    print("one\ntwo")
    logging.getLogger("library").debug("not kept")
    logging.getLogger("library").error("from a library")
    try:
        raise ValueError("why")
    except ValueError:
        ctx.logger.exception("it failed")
    print("three", end="")


@task("sdk.interrupted", on_cancel=lambda execution_id, args: notes.append((execution_id, args)))
def interrupted(ctx: Context, name: str = "a") -> None:
    try:
        ctx.progress(0.1)
        ctx.progress(0.2)
        ctx.progress(0.3)
    finally:
        notes.append("cleaned up")


@task("sdk.stubborn")
def stubborn(ctx: Context) -> str:
    try:
        ctx.progress(0.1)
    except Stopped:
        return "too late"
    return "done"


@task("sdk.split")
def split(ctx: Context, pages: int) -> list[str]:
    parts = [{"ref": f"page-{n}", "task_id": "sdk.pack", "args": {"order": n + 1}} for n in range(pages)]
    return ctx.submit(*parts, {"task_id": "elsewhere.join", "depends_on": [part["ref"] for part in parts]})


@task("sdk.submit")
def submit(ctx: Context, jobs: list[dict[str, Any]]) -> list[str]:
    return ctx.submit(*jobs)


@task("sdk.return")
def give(ctx: Context, kind: str) -> Any:
    return {"object": object(), "nan": float("nan"), "nul": "a\x00", "large": "x" * 300_000}[kind]


def test_an_attempt_has_its_result_as_json_and_what_the_body_reported():
    attempt = run(pack, order=17)
    assert attempt.outcome == "success"
    assert attempt.result == {"order": 17, "day": "2026-01-01", "boxes": [1, 2]}
    assert attempt.progress == [(0.5, "half of it"), (1.0, "")]
    assert attempt.sessions == ["line 3"]
    assert attempt.messages == ["order 17", "packed"]
    assert (attempt.error, attempt.failure_type, attempt.is_retried) == (None, None, False)


def test_a_task_may_be_named_by_its_task_id():
    assert run("sdk.pack", order=1, day="2026-02-03").result["day"] == "2026-02-03"
    with pytest.raises(definitions.UnknownTask, match=r"sdk\.nothing"):
        run("sdk.nothing")
    with pytest.raises(definitions.UnknownTask, match="empty_notes"):
        run(empty_notes)


@pytest.mark.parametrize(
    ("args", "field"),
    [({}, "order"), ({"order": 0}, "order"), ({"order": "x"}, "order"), ({"order": 1, "more": 2}, "more")],
)
def test_arguments_are_checked_by_the_type_hints(args, field):
    attempt = run(pack, **args)
    assert (attempt.outcome, attempt.failure_type, attempt.is_retried) == ("failure", "invalid_args", False)
    assert attempt.error_message.startswith(f"{field}: ")
    assert attempt.progress == []


def test_an_argument_that_is_not_json_is_an_error_of_the_test():
    with pytest.raises(TypeError, match="JSON"):
        run(pack, order=1, day=date(2026, 1, 1))


@pytest.mark.parametrize(
    ("kind", "failure_type", "message", "is_retried"),
    [
        ("value", "error", "ValueError: as asked", True),
        ("key", "error", "KeyError: 'as asked'", False),
        ("task", "error", "as asked", True),
        ("git", "git_conflict", "as asked", False),
        ("exit", "error", "The body called sys.exit(3).", True),
    ],
)
def test_an_error_decides_the_failure_type_and_whether_dure_retries(kind, failure_type, message, is_retried):
    attempt = run(fail, kind=kind)
    assert (attempt.outcome, attempt.failure_type) == ("failure", failure_type)
    assert (attempt.error_message, attempt.is_retried) == (message, is_retried)
    with pytest.raises((ValueError, KeyError, TaskFailure)):
        _ = attempt.result
    assert attempt.error_message.split()[-1] in attempt.traceback


def test_the_last_attempt_is_not_retried():
    context = FakeContext()
    assert [run(fail, context, kind="value").is_retried for _ in range(3)] == [True, False, False]
    assert context.attempt == 3


def test_a_body_reads_what_the_test_supplies():
    due = datetime(2026, 5, 1, tzinfo=UTC)
    context = FakeContext(attempt=2, results={"extract": 5}, input={"month": 5}, scheduled_for=due)
    assert run(read, context).result == [{"extract": 5}, {"month": 5}, due.isoformat(), 2, False]


def test_the_deadline_is_that_of_the_task():
    context, limit = FakeContext(), timedelta(seconds=60)
    before = datetime.now(UTC)
    run(pack, context, order=1)
    assert before + limit <= context.deadline <= datetime.now(UTC) + limit
    assert context.idempotency_key == context.execution_id


def test_the_log_has_what_a_body_logs_and_prints(capsys):
    level = logging.getLogger().level
    lines = run(say).logs
    assert lines[:3] == [
        LogLine("INFO", "stdout", None, "one"),
        LogLine("INFO", "stdout", None, "two"),
        LogLine("ERROR", "log", "library", "from a library"),
    ]
    assert lines[3].logger == "dure.task.sdk.say"
    assert lines[3].message.endswith("ValueError: why")
    assert lines[4].message == "three"
    assert len(lines) == 5
    assert capsys.readouterr().out == "one\ntwo\nthree\n"
    assert logging.getLogger().level == level


def test_a_program_that_the_body_starts_still_writes_to_the_terminal(capfd):
    @task("sdk.program")
    def program(ctx: Context) -> None:
        subprocess.run(["echo", "from a program"], check=True)

    run(program).result  # noqa: B018 (raises if it failed)
    assert "from a program" in capfd.readouterr().out


def test_a_cancel_stops_the_body_where_it_reports_and_calls_on_cancel():
    context = FakeContext(cancel_at=2)
    attempt = run(interrupted, context, name="b")
    assert (attempt.outcome, attempt.failure_type, attempt.is_retried) == ("cancelled", "cancelled", False)
    assert len(attempt.progress) == 2
    assert notes == ["cleaned up", (context.execution_id, {"name": "b"})]
    with pytest.raises(Stopped):
        _ = attempt.result


def test_a_time_limit_stops_the_body_and_is_retried():
    attempt = run(interrupted, FakeContext(timeout_at=1))
    assert (attempt.outcome, attempt.failure_type, attempt.is_retried) == ("timeout", "timeout", True)
    assert notes == ["cleaned up"]


def test_the_result_of_a_cancelled_run_does_not_count():
    attempt = run(stubborn, FakeContext(cancel_at=1))
    assert (attempt.outcome, attempt.value) == ("cancelled", None)
    assert run(stubborn).result == "done"
    assert run(read, FakeContext(cancelled=True)).outcome == "cancelled"


def test_a_submission_of_a_body_is_recorded_once_however_often_the_body_runs():
    context = FakeContext()
    first = run(split, context, pages=2)
    (submission,) = first.submitted
    assert [job["task_id"] for job in submission.jobs] == ["sdk.pack", "sdk.pack", "elsewhere.join"]
    assert submission.ids == first.result
    again = run(split, context, pages=2)
    assert again.result == first.result
    assert again.submitted == []


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ({}, "jobs.0.task_id"),
        ({"task_id": "sdk.pack", "args": {"order": 0}}, "jobs.0.args: order"),
        ({"task_id": "sdk.pack"}, "jobs.0.args: order"),
        ({"task_id": "elsewhere.a", "depends_on": ["nobody"]}, "jobs.0.depends_on: 'nobody'"),
    ],
)
def test_a_submission_that_the_server_would_refuse_fails_the_run(job, message):
    attempt = run(submit, jobs=[job])
    assert attempt.failure_type == "invalid_args"
    assert attempt.error_message.startswith(message)
    assert attempt.submitted == []


def test_a_reference_in_a_submission_is_checked_when_the_job_starts():
    job = {"task_id": "sdk.pack", "args": {"order": {"$result": "first"}}, "depends_on": ["first"]}
    assert run(submit, jobs=[{"task_id": "elsewhere.a", "ref": "first"}, job]).outcome == "success"
    assert run(submit, jobs=[]).failure_type == "invalid_args"


@pytest.mark.parametrize("kind", ["object", "nan", "nul", "large"])
def test_a_result_that_cannot_be_stored_fails_the_run(kind):
    attempt = run(give, kind=kind)
    assert attempt.failure_type == "invalid_args"
    assert attempt.error_message.startswith("The result ")


def test_progress_takes_a_fraction():
    @task("sdk.progress")
    def body(ctx: Context) -> None:
        ctx.progress(50)

    assert "between 0 and 1" in run(body).error_message
    with pytest.raises(ValueError, match="no_type"):
        raise InvalidArgs("x", "no_type")
