"""Celery's `revoke`, `terminate` and `time_limit`: they cancel the run as the API does, or refuse."""

from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from celery.events.state import Task

from jobs import counters, joins, publish
from jobs.models import Counter, Event, Execution, Job
from jobs.states import EventType, ExecutionStatus, JobStatus
from tests.engine_workers import SLOTS, ended, lines, started
from tests.factories import a_job, a_start, an_office, fresh, submitted
from tests.task_events import task_events
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)

NAME = "engine@test"


def control(command: str, **arguments: Any) -> dict[str, str]:
    (reply,) = current_app.control.broadcast(
        command, arguments=arguments, destination=[NAME], reply=True, timeout=30
    )
    return dict(reply[NAME])


def message_of(run: Execution) -> str:
    return publish.message_id(str(run.id), run.dispatch)


def run_of(job: Job) -> Execution:
    run = fresh(job).execution
    assert run is not None
    return run


@pytest.mark.parametrize(
    ("command", "arguments"),
    [("revoke", {}), ("revoke", {"terminate": True, "signal": "SIGTERM"}), ("terminate", {"signal": "KILL"})],
)
def test_a_running_job_is_cancelled(worker, path, command, arguments):
    job = a_job(an_office(), task_id="try.until", args={"path": path})
    run = run_of(started(job))
    answer = control(command, task_id=[message_of(run)], **arguments)
    assert answer["ok"] in (f"{run.id}: asked to stop", f"{run.id}: cancelled")
    assert ended(job).status == JobStatus.CANCELLED


def test_a_waiting_job_is_cancelled_and_its_message_ends_as_revoked(worker, path):
    office = an_office(max_concurrent_jobs=9)
    with task_events(NAME) as events:
        for _ in range(SLOTS):
            started(a_job(office, task_id="try.until", args={"path": path}))
        job = a_job(office, task_id="try.echo", args={})
        run = run_of(job)
        assert control("revoke", task_id=message_of(run)) == {"ok": f"{run.id}: cancelled"}
        assert fresh(job).status == JobStatus.CANCELLED
        event = Event.objects.get(job_id=job.id, type=EventType.JOB_CANCELLED)
        assert event.details == {"actor": "celery", "reason": "celery control or Flower"}
        Path(path).touch()
        eventually(lambda: "task-revoked" in kinds(events, run), what="the end of the message")
        assert kinds(events, run)[-1] == "task-revoked"


def test_a_running_job_that_is_cancelled_ends_as_revoked(worker, path):
    with task_events(NAME) as events:
        job = a_job(an_office(), task_id="try.until", args={"path": path})
        run = run_of(started(job))
        control("revoke", task_id=message_of(run))
        eventually(lambda: "task-revoked" in kinds(events, run), what="the end of the message")


def test_a_duplicate_ends_as_one_in_flower(worker, path):
    with task_events(NAME) as events:
        job = a_job(an_office(), task_id="try.until", args={"path": path})
        run = run_of(started(job))
        send = publish.Send(str(run.id), run.dispatch, run.role, run.task_id, publish.FAIR, 0)
        publish.send_messages([send])
        eventually(lambda: "DUPLICATE" in flower_states(events), what="the end of the duplicate")
        Path(path).touch()
        eventually(
            lambda: sorted(flower_states(events)) == ["DUPLICATE", "SUCCESS"], what="the end of the run"
        )
    assert ended(job).status == JobStatus.DONE


def test_the_message_of_a_join_ends_in_flower_too(worker):
    with task_events(NAME) as events:
        job = {"task_id": "try.echo", "args": {}}
        submitted(
            an_office(),
            job | {"ref": "a"},
            job | {"ref": "b"},
            job | {"ref": "join", "depends_on": ["a", "b"]},
        )
        expected = ["RELEASED", "SUCCESS", "SUCCESS", "SUCCESS"]
        eventually(lambda: sorted(flower_states(events)) == expected, what="the end of all messages")


def test_the_message_of_a_join_that_has_to_wait_is_no_duplicate(worker, path):
    echo = {"task_id": "try.echo", "args": {}}
    with task_events(NAME) as events:
        submitted(
            an_office(max_concurrent_jobs=1),
            echo | {"ref": "a"},
            echo | {"ref": "b"},
            {"task_id": "try.until", "args": {"path": path}},
            echo | {"depends_on": ["a", "b"]},
        )
        eventually(lambda: "HELD" in flower_states(events), what="the message of the join")
        Path(path).touch()
        expected = ["HELD", *["SUCCESS"] * 4]
        eventually(lambda: sorted(flower_states(events)) == expected, what="the end of all messages")
    assert not Counter.objects.filter(name=counters.DUPLICATES).exists()


def test_a_job_or_a_run_is_cancelled_by_its_own_id_too(worker, path):
    first, second, join = submitted(
        an_office(),
        {"ref": "first", "task_id": "try.until", "args": {"path": path}},
        {"ref": "second", "depends_on": ["first"]},
        {"depends_on": ["first", "second"]},
    )
    message = publish.message_id(str(join.id), joins.DISPATCH)
    answer = control("revoke", task_id=[str(second.id), message])
    assert answer == {"ok": f"{second.id}: cancelled; {join.id}: cancelled"}
    assert (fresh(second).status, fresh(join).status) == (JobStatus.CANCELLED, JobStatus.CANCELLED)
    assert "ok" in control("revoke", task_id=[str(run_of(started(first)).id)])
    assert ended(first).status == JobStatus.CANCELLED


def test_a_run_without_a_job_is_cancelled(worker, path):
    run = Execution.objects.get(pk=a_start(task_id="try.until", args={"path": path}))
    eventually(lambda: status_of(run) == ExecutionStatus.RUNNING, what="its start")
    assert "ok" in control("revoke", task_id=[message_of(run)])
    eventually(lambda: status_of(run) == ExecutionStatus.CANCELLED, what="its end")


def test_a_revocation_that_cancels_nothing_is_an_error(worker, path):
    job = ended(a_job(an_office(), task_id="try.line", args={"path": path}))
    unknown = "0190a0b0-0000-7000-8000-000000000001"
    answer = control("revoke", task_id=[message_of(run_of(job)), f"{unknown}.1.00ff"])
    assert answer == {
        "error": f"{job.execution_id}: not cancelled, it is SUCCESS; {unknown}: there is no such run"
    }
    assert (fresh(job).status, len(lines(path))) == (JobStatus.DONE, 1)


def test_the_time_limit_of_a_task_is_refused(worker):
    assert "timeout_ms" in control("time_limit", task_name="try.echo", soft=5, hard=5)["error"]
    assert control("time_limit", task_name="dure.sweep", soft=50, hard=50) == {
        "ok": "time limits set successfully"
    }


def test_the_id_of_another_task_is_left_to_celery(worker):
    answer = control("revoke", task_id=["8d0c6d0a-3f59-4b0f-9a5f-0d7a3d5b8a11"])
    assert "flagged as revoked" in answer["ok"]


def flower_states(events: list[tuple[str, str]]) -> list[str]:
    """The state of each message, as Flower concludes it from its events."""
    tasks: dict[str, Task] = {}
    for number, (kind, message) in enumerate(events):
        tasks.setdefault(message, Task(message)).event(kind.removeprefix("task-"), number, number)
    return [task.state for task in tasks.values()]


def kinds(events: list[tuple[str, str]], run: Execution) -> list[str]:
    return [kind for kind, message in events if message.startswith(str(run.id))]


def status_of(run: Execution) -> str:
    return Execution.objects.get(pk=run.pk).status
