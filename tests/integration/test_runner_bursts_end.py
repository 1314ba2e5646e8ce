"""What a worker may not bring along, however long its bursts are."""

import signal
from pathlib import Path

import pytest
from celery import current_app
from django.utils import timezone

from jobs.models import Attempt, Execution
from jobs.states import ExecutionStatus
from tests.engine_workers import ENVIRONMENT, start
from tests.factories import START, a_start
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def worker(tmp_path, monkeypatch, transactional_db):
    monkeypatch.setitem(ENVIRONMENT, "DURE_WORKER_MODULES", "tests.engine_tasks,tests.long_bursts")
    with start(tmp_path, name="ending", control=False, roles="default") as running:
        yield running


def without_message(role="default"):
    return Execution.objects.create(
        **{**START, "role": role}, dispatched_at=timezone.now(), sent_count=0, due_at=None
    )


def until(path):
    """A run that ends when the path exists."""
    run = Execution.objects.get(pk=a_start(task_id="try.until", args={"path": path}))
    becomes(run, ExecutionStatus.RUNNING)
    return run


def becomes(run, status):
    """Waits for this status."""
    eventually(lambda: fresh(run).status == status, what=f"{run.task_id} to be {status}")


def fresh(run):
    return Execution.objects.get(pk=run.pk)


def state(run):
    row = fresh(run)
    return row.status, row.sent_count


def was_brought_along(run):
    return not Attempt.objects.get(execution=run).token.startswith(str(run.id))


def ask(command):
    (answer,) = current_app.control.broadcast(command, destination=["ending@test"], reply=True, timeout=30)
    assert "ok" in answer["ending@test"]


def test_a_drained_worker_brings_nothing_along_until_it_is_resumed(worker, path):
    run, waiting = until(path), without_message()
    ask("dure_drain")
    Path(path).touch()
    becomes(run, "SUCCESS")
    assert state(waiting) == ("PENDING", 1), "it has a message for another worker"
    ask("dure_resume")
    becomes(waiting, "SUCCESS")
    assert not was_brought_along(waiting)
    run, waiting = until(path + "-again"), without_message()
    Path(path + "-again").touch()
    becomes(waiting, "SUCCESS")
    assert was_brought_along(waiting)


def test_a_stopping_worker_brings_nothing_along(worker, path):
    run, waiting = until(path), without_message()
    worker.process.signal(signal.SIGTERM)
    worker.process.wait_for_line("Warm shutdown")
    Path(path).touch()
    assert worker.process.wait() == 0
    assert (fresh(run).status, *state(waiting)) == ("SUCCESS", "PENDING", 1)


def test_a_worker_brings_along_only_what_is_of_its_roles(worker, path):
    run, other, waiting = until(path), without_message("QA"), without_message()
    Path(path).touch()
    becomes(waiting, "SUCCESS")
    assert was_brought_along(waiting)
    assert (fresh(run).status, *state(other)) == ("SUCCESS", "PENDING", 0)
