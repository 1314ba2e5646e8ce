"""A message waits before its claim while other processes keep all cores busy with short runs."""

from pathlib import Path

import pytest
from celery import current_app

from jobs import lifecycle
from jobs.models import Attempt, Execution
from jobs.states import ExecutionStatus
from jobs.subprocesses import process_tree
from tests import engine_workers
from tests.engine_workers import ENVIRONMENT, ending_what_runs, start
from tests.factories import a_start, an_office, submitted
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)
NAME = "cores@test"


@pytest.fixture(scope="module")
def workers(django_db_setup, django_db_blocker, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock():
        patch.setitem(ENVIRONMENT, "DURE_WORKER_MODULES", "tests.engine_tasks,tests.busy_cores")
        patch.setattr(engine_workers, "SLOTS", 4)
        with start(tmp_path_factory.mktemp("cores"), name="cores", roles="default") as running:
            yield running


@pytest.fixture
def worker(workers, transactional_db, path):
    """Two of its four processes keep the cores busy until the path exists."""
    with ending_what_runs():
        try:
            for _ in range(2):
                becomes(a_start(task_id="try.keep_busy", args={"path": path}), ExecutionStatus.RUNNING)
            yield workers
        finally:
            Path(path).touch()


def status(run):
    return Execution.objects.get(pk=run).status


def becomes(run, expected):
    eventually(lambda: status(run) == expected, what=f"the run to be {expected}")


def active():
    """The Executions that the processes of the worker have taken, with these processes."""
    return {
        each["args"][0]: each["worker_pid"]
        for each in current_app.control.inspect([NAME], timeout=30).active()[NAME]
    }


def a_waiting_run(task_id="try.echo", **args):
    """A run that a process has taken, and does not claim."""
    run = a_start(task_id=task_id, args=args)
    eventually(lambda: str(run) in active(), what="a process that takes the message")
    return run


def test_a_message_waits_while_short_runs_keep_the_cores_busy(worker, path):
    run = a_waiting_run()
    (urgent,) = submitted(an_office(), {"task_id": "try.echo", "args": {}})
    becomes(urgent.execution_id, ExecutionStatus.SUCCESS)
    assert status(run) == ExecutionStatus.PENDING, "it came first, and waits"
    Path(path).touch()
    becomes(run, ExecutionStatus.SUCCESS)


def test_a_run_is_cancelled_while_its_message_waits(worker, path):
    run = a_waiting_run()
    lifecycle.cancel_execution(run)
    assert status(run) == ExecutionStatus.CANCELLED
    Path(path).touch()
    eventually(lambda: not active(), what="the end of all messages")
    assert status(run) == ExecutionStatus.CANCELLED
    assert not Attempt.objects.filter(execution=run).exists()


def test_a_worker_that_is_drained_lets_a_message_wait_no_longer(worker, path):
    run = a_waiting_run()
    current_app.control.broadcast("dure_drain", destination=[NAME], reply=True, timeout=30)
    try:
        becomes(run, ExecutionStatus.SUCCESS)
        assert not Path(path).exists()
    finally:
        Path(path).touch()
        current_app.control.broadcast("dure_resume", destination=[NAME], reply=True, timeout=30)


def test_a_process_that_dies_while_its_message_waits_has_lost_no_run(worker, path, settings):
    settings.DURE_REPUBLISH_SECONDS = 1.0
    run = a_waiting_run()
    pid = active()[str(run)]
    process_tree.kill_tree(pid)
    eventually(lambda: str(run) not in active(), what="the end of the message")
    assert status(run) == ExecutionStatus.PENDING
    eventually(lifecycle.republish, what="the time at which a message counts as lost")
    eventually(lambda: str(run) in active(), what="the message that is sent again")
    Path(path).touch()
    becomes(run, ExecutionStatus.SUCCESS)
    assert Attempt.objects.get(execution=run).outcome == "success"
