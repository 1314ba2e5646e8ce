"""Step queues with real Celery workers: time limits, roles, cancels, and waiting callers."""

import pytest
from django.utils import timezone

from jobs.models import Execution, Job
from scheduler.steps import lifecycle
from scheduler.steps.models import StepQueue
from scheduler.steps.run_queue import RUN_QUEUE
from scheduler.workflows import runs
from tests.factories import an_office
from tests.integration.rest_support import client_of, forget_counts, make_user
from tests.schedule_factories import a_workflow
from tests.step_factories import a_job, a_queue, execution, fresh, states, steps
from tests.workers import eventually, running

pytestmark = pytest.mark.django_db(transaction=True)

ENVIRONMENT = {"DURE_WORKER_MODULES": "tests.step_operations", "DURE_STEP_BACKWARD_DELAY_SECONDS": "0.05"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("workers")


@pytest.fixture(scope="module", autouse=True)
def worker(folder, django_db_setup):
    with running(folder, env=ENVIRONMENT, control=False) as process:
        yield process


# Longer than any wait of these tests.
LONG = 600.0


def sleeping(seconds: float = LONG, **values):
    arguments = {"seconds": seconds, "stubborn": values.pop("stubborn", False)}
    return {"forward_operation": "sleep", "arguments": arguments, "expired_time": LONG, **values}


def ended(queue):
    return eventually(
        lambda: fresh(queue) if fresh(queue).state == "READY" else None, what=f"the end of {queue}"
    )


def test_a_queue_runs_in_both_directions_on_the_workers_of_each_role():
    put = {"forward_operation": "put", "arguments": {"value": 1}}
    queue = a_queue(a_job("a"), put, a_job("c", "fail"))
    lifecycle.run(queue.queue_id)
    after = ended(queue)
    assert states(queue) == ["SUCCESS, CANCELED", "SUCCESS, CANCELED", "FAILED, CANCELED"]
    assert after.context == {"notes": ["a FORWARD", "c FORWARD", "c BACKWARD", "a BACKWARD"], "value": 1}
    assert Execution.objects.get(args__operation="put").role == "QA"


def test_an_operation_over_its_time_limit_is_a_timeout_and_its_context_is_kept():
    # The limit is the time in which it has to begin, too.
    queue = a_queue(a_job("a"), sleeping(expired_time=3))
    lifecycle.run(queue.queue_id)
    after = ended(queue)
    assert states(queue) == ["SUCCESS, CANCELED", "TIMEOUT, CANCELED"]
    assert steps(queue)[1].job_return["forward"]["failure_type"] == "timeout"
    assert after.context["slept"] is True


def test_an_operation_that_ignores_its_time_limit_is_killed_as_a_timeout():
    queue = a_queue(sleeping(expired_time=0.3, stubborn=True))
    lifecycle.run(queue.queue_id)
    after = ended(queue)
    assert states(queue) == ["TIMEOUT, CANCELED"]
    assert after.context == {}


def test_a_cancel_stops_the_running_operation_and_rolls_back():
    queue = a_queue(a_job("a"), sleeping(), a_job("c"))
    lifecycle.run(queue.queue_id)
    eventually(lambda: execution(queue).status == "RUNNING" and execution(queue).args["operation"] == "sleep")
    lifecycle.cancel(queue.queue_id)
    ended(queue)
    assert states(queue) == ["SUCCESS, CANCELED", "FAILED, CANCELED", "NOTYET"]


def test_a_waiting_caller_gets_the_return_message_when_the_run_ends():
    forget_counts()
    alice = make_user("alice")
    queue = a_queue(a_job("a"), sleeping(0.5), a_job("c"), owner=alice)
    answer = client_of(alice).post(f"/api/queues/{queue.queue_id}/run?wait=60")
    assert (answer.status_code, answer.json()["state"]) == (200, "READY")
    assert [line["return"] for line in answer.json()["queue_return"]] == ["a did", "slept", "c did"]


def test_a_slow_queue_does_not_delay_others():
    sleeper = a_queue(sleeping())
    lifecycle.run(sleeper.queue_id)
    eventually(lambda: execution(sleeper).status == "RUNNING")
    others = [a_queue(*[a_job(str(n)) for n in range(3)]) for _ in range(10)]
    for queue in others:
        lifecycle.run(queue.queue_id)
    for queue in others:
        ended(queue)
        assert states(queue) == ["SUCCESS"] * 3
    assert fresh(sleeper).state == "RUNNING"
    lifecycle.cancel(sleeper.queue_id)
    ended(sleeper)


# --- steps.run_queue ------------------------------------------------------------------------------


def workflow_run(office, queue):
    """A run of a workflow that runs the queue, and adds numbers afterwards."""
    run_queue = {"ref": "q", "task_id": RUN_QUEUE, "args": {"queue_id": queue.queue_id}}
    numbers = {"$result": "q", "path": "context.value"}
    add = {"ref": "sum", "task_id": "demo.sum", "args": {"numbers": numbers}, "depends_on": ["q"]}
    workflow = a_workflow(office, now=timezone.now(), status="draft", steps=[run_queue, add])
    return runs.run_now(workflow.id, user_id=None, now=timezone.now())


def job_of(run, ref):
    return Job.objects.select_related("execution").get(batch=run.batch_id, ref=ref)


def test_a_step_of_a_workflow_runs_a_queue_and_the_next_step_reads_its_context():
    office = an_office()
    put = {"forward_operation": "put", "arguments": {"value": [1, 2]}}
    run = workflow_run(office, a_queue(a_job("a"), put, office=office))
    eventually(lambda: job_of(run, "sum").status == "done", what="the sum")
    assert job_of(run, "sum").execution.result == 3


def test_a_queue_that_rolls_back_fails_the_step_of_its_workflow_once():
    office = an_office()
    run = workflow_run(office, a_queue(a_job("a"), a_job("b", "fail"), office=office))
    eventually(lambda: job_of(run, "q").status == "failed", what="the failure of the step")
    assert "rolled back: job 2 (do) ended as FAILED" in job_of(run, "q").error_message
    assert (job_of(run, "q").retry_count, job_of(run, "sum").status) == (0, "pending")


def test_the_cancel_of_a_job_that_runs_a_queue_rolls_the_queue_back():
    office = an_office()
    run = workflow_run(office, a_queue(a_job("a"), sleeping(), office=office))
    copies = StepQueue.objects.filter(started_by__isnull=False)
    eventually(copies.exists, what="the copy")
    copy = copies.get()
    eventually(lambda: states(copy)[0] == "SUCCESS", what="the first operation")
    runs.cancel(run.id, actor="alice", now=timezone.now())
    ended(copy)
    assert states(copy) == ["SUCCESS, CANCELED", "FAILED, CANCELED"]
    assert job_of(run, "q").status == "cancelled"
