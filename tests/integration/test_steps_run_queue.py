"""The Task steps.run_queue: copies of a queue for runs by hand, schedules, jobs and workflows."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dure import Stopped
from jobs import lifecycle as engine
from jobs import runner
from jobs.models import Execution, Worker
from scheduler import retention
from scheduler.manual_runs import run_task
from scheduler.steps import run_queue
from scheduler.steps.models import Step, StepEvent, StepQueue
from scheduler.steps.run_queue import RUN_QUEUE
from tests.factories import a_user, an_office, submitted
from tests.schedule_factories import a_schedule, executions, fire
from tests.step_factories import Claimed, a_job, a_queue, completed, fresh, run_to_end, states

pytestmark = pytest.mark.django_db


def started(queue, owner, *, wait=False):
    """The Execution of a run by hand that a worker has claimed."""
    execution = run_task(RUN_QUEUE, {"queue_id": queue.queue_id, "wait": wait}, owner_id=owner.pk)
    return Claimed(Execution.objects.get(pk=execution))


def performed(run):
    run.perform()
    return Execution.objects.get(pk=run.run.claim.execution_id)


def copied_before(run):
    """The copy that an earlier attempt of this run has made and started, before its worker died."""
    return run_queue._started_copy(
        Execution.objects.get(pk=run.run.claim.execution_id), run.run.claim.args["queue_id"]
    )


def the_copy(execution):
    return StepQueue.objects.get(started_by=execution.id)


def test_a_run_starts_a_copy_and_leaves_the_queue_alone():
    alice = a_user()
    queue = a_queue(a_job("a"), owner=alice, name="web")
    run = performed(started(queue, alice))
    copy = the_copy(run)
    assert (run.status, run.result) == ("SUCCESS", {"queue_id": copy.queue_id, "run": 1})
    assert (copy.state, copy.name, copy.owner) == ("RUNNING", "web", alice)
    assert (fresh(queue).state, fresh(queue).run, states(queue)) == ("READY", 0, ["NOTYET"])


def test_a_body_that_starts_again_waits_for_the_copy_that_it_made():
    alice = a_user()
    run = started(a_queue(a_job("a"), owner=alice), alice, wait=True)
    copy = copied_before(run)
    run_to_end(copy)
    execution = performed(run)
    assert execution.result == {"queue_id": copy.queue_id, "run": 1, "context": {"notes": ["a FORWARD"]}}
    assert fresh(copy).run == 1


def test_a_run_fails_as_its_copy_rolls_back():
    alice = a_user()
    run = started(a_queue(a_job("a", backward="fail"), a_job("b", "fail"), owner=alice), alice, wait=True)
    copy = copied_before(run)
    run_to_end(copy)
    assert performed(run).error == (
        f"Step queue {copy.queue_id} rolled back: job 2 (do) ended as FAILED. Its rollback is incomplete."
    )


def test_a_cancelled_run_rolls_its_copy_back():
    alice = a_user()
    run = started(a_queue(a_job("a"), a_job("b"), owner=alice), alice, wait=True)
    copy = copied_before(run)
    engine.cancel_execution(run.run.claim.execution_id)
    # The exception with which its worker stops the body.
    runner.settle_failure(RUN_QUEUE, run.run, Stopped(), again=True)
    assert Execution.objects.get(pk=run.run.claim.execution_id).status == "CANCELLED"
    run_to_end(copy)
    assert states(copy) == ["FAILED, CANCELED", "NOTYET"]


@pytest.mark.parametrize("jobs", [[], None])
def test_a_queue_that_cannot_run_fails_the_run_and_leaves_no_copy(jobs):
    alice, mallory = a_user("alice"), a_user("mallory")
    # An empty queue, and the queue of another user.
    queue = a_queue(owner=alice) if jobs == [] else a_queue(a_job(), owner=mallory)
    execution = performed(started(queue, alice))
    assert (execution.status, execution.failure_type) == ("FAILED", "invalid_args")
    assert ("no jobs" if jobs == [] else "There is no step queue") in execution.error
    assert not StepQueue.objects.filter(started_by__isnull=False).exists()


def test_a_job_runs_the_queues_of_its_office_alone():
    alice = a_user()
    office, other = an_office(alice), an_office(alice)
    own, foreign, private = (a_queue(a_job(), owner=alice, office=of) for of in (office, other, None))
    for queue, ending in ((own, "SUCCESS"), (foreign, "FAILED"), (private, "FAILED")):
        (job,) = submitted(
            office, {"task_id": RUN_QUEUE, "args": {"queue_id": queue.queue_id, "wait": False}}
        )
        job.refresh_from_db()
        assert performed(Claimed(Execution.objects.get(job=job))).status == ending
    assert StepQueue.objects.get(started_by__isnull=False).office == office


def test_a_schedule_runs_the_queues_of_its_owner_alone():
    alice, mallory = a_user("alice"), a_user("mallory")
    queue = a_queue(a_job(), owner=alice)
    for owner, ending in ((alice, "SUCCESS"), (mallory, "FAILED"), (None, "FAILED")):
        schedule = a_schedule(
            owner=owner, task_id=RUN_QUEUE, args={"queue_id": queue.queue_id, "wait": False}
        )
        fire(schedule)
        (execution,) = executions(schedule)
        assert performed(Claimed(execution)).status == ending


def test_the_last_process_of_a_worker_does_not_wait():
    alice = a_user()
    now = timezone.now()
    Worker.objects.create(name="played@test", slots=2, started_at=now, seen_at=now)
    queue = a_queue(a_job(), owner=alice)
    runs = [started(queue, owner, wait=True) for owner in (alice, a_user("bob", is_superuser=True))]
    refused = performed(runs[1])
    assert (refused.status, refused.failure_type) == ("PENDING", "session_error")
    assert "waits for at most 1 step queues" in refused.error
    assert not StepQueue.objects.filter(started_by=refused.id).exists()


def test_a_copy_has_the_callback_and_its_secret():
    alice = a_user()
    queue = a_queue(a_job(), owner=alice, callback_url="https://hooks.example.com/q")
    copy = the_copy(performed(started(queue, alice)))
    assert (copy.callback_url, copy.callback_secret) == (queue.callback_url, queue.callback_secret)


def test_retention_deletes_the_copies_of_runs_and_keeps_what_needs_a_person():
    alice = a_user()
    queue = completed(a_queue(a_job("a"), owner=alice))
    kept = the_copy(performed(started(a_queue(a_job("a", "fail", "fail"), owner=alice), alice)))
    run_to_end(kept)
    old = the_copy(performed(started(queue, alice)))
    run_to_end(old)
    StepQueue.objects.update(ended_at=timezone.now() - timedelta(days=31))
    assert retention.delete_old(timezone.now()).deleted["step_queues"] == 1
    left = set(StepQueue.objects.values_list("queue_id", flat=True))
    assert old.queue_id not in left
    assert {queue.queue_id, kept.queue_id} <= left
    assert not Step.objects.filter(queue=old.queue_id).exists()
    assert not StepEvent.objects.filter(queue=old.queue_id).exists()
