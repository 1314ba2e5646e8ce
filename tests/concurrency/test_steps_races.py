"""Concurrent requests on one step queue: links form one list, a run starts once, a cancel is final."""

import pytest

from dure import StepRun
from jobs.errors import Conflict
from scheduler.steps import lifecycle, queues
from scheduler.steps.models import Step
from tests import step_operations
from tests.concurrency.threads import PATIENCE, all_at_once, in_thread, start_thread
from tests.factories import a_user
from tests.step_factories import a_job, a_queue, claimed, completed, fresh, run_to_end, states, steps
from tests.step_operations import LIBRARY

pytestmark = pytest.mark.django_db(transaction=True)


def test_jobs_enqueued_concurrently_form_one_list():
    queue = a_queue()
    all_at_once(lambda n: queues.enqueue(queue.queue_id, a_job(str(n))), 12)
    jobs = steps(queue)
    ids = [str(step.job_id) for step in jobs]
    assert [step.number for step in jobs] == list(range(1, 13))
    assert [step.prev_job for step in jobs] == ["HEAD", *ids[:-1]]
    assert [step.next_job for step in jobs] == [*ids[1:], "TAIL"]
    assert (fresh(queue).job_queue, fresh(queue).last_job) == (ids[0], ids[-1])


def test_only_one_of_the_queues_that_take_the_same_job_gets_it():
    """Each request has read that the job is in no queue."""
    owner = a_user()
    taken = [a_queue(a_job("first"), owner=owner) for _ in range(4)]
    job = queues.create_job(a_job("the job", operation_library=LIBRARY), owner)

    def take(number: int) -> bool:
        try:
            queues.enqueue_job(taken[number].queue_id, Step.objects.get(pk=job.pk))
        except Conflict:
            return False
        return True

    won = all_at_once(take, len(taken))
    assert won.count(True) == 1
    for queue, has_it in zip(taken, won, strict=True):
        now = fresh(queue)
        assert now.job_number == len(steps(queue)) == 1 + has_it
        assert now.last_job == str(steps(queue)[-1].job_id)
        assert (steps(queue)[-1].job_id == job.job_id) == has_it
        assert states(completed(queue)) == ["SUCCESS"] * (1 + has_it)


def test_a_job_is_enqueued_or_deleted():
    owner = a_user()
    queue = a_queue(owner=owner)
    for _ in range(5):
        job = queues.create_job(a_job(operation_library=LIBRARY), owner)

        def act(number: int, job: Step = job) -> bool:
            try:
                queues.delete_job(job.job_id) if number else queues.enqueue_job(queue.queue_id, job)
            except Conflict:
                return False
            return True

        enqueued, deleted = all_at_once(act, 2)
        assert enqueued != deleted
        assert Step.objects.filter(pk=job.pk).exists() == enqueued
    assert fresh(queue).job_number == len(steps(queue))


def test_concurrent_run_requests_start_one_run():
    queue = a_queue(a_job("a"))

    def run(_: int) -> bool:
        try:
            lifecycle.run(queue.queue_id)
        except Conflict:
            return False
        return True

    assert sum(all_at_once(run, 8)) == 1
    assert fresh(queue).run == 1


def test_a_job_is_enqueued_before_the_run_or_not_at_all():
    for _ in range(10):
        queue = a_queue(a_job("a"))

        def enqueue_or_run(number: int, queue_id: int = queue.queue_id) -> bool:
            try:
                if number:
                    queues.enqueue(queue_id, a_job("b"))
                else:
                    lifecycle.run(queue_id)
            except Conflict:
                return False
            return True

        started, enqueued = all_at_once(enqueue_or_run, 2)
        assert started
        run_to_end(queue)
        assert states(queue) == ["SUCCESS"] * (2 if enqueued else 1)


@pytest.mark.parametrize("last", [True, False])
def test_a_cancel_that_meets_the_end_of_an_operation_is_obeyed_or_refused(last):
    """An accepted cancel rolls the run back even as its last operation ends; a refused one has no effect."""
    obeyed = refused = 0
    for _ in range(30):
        queue = a_queue(*[a_job("a")] * (1 if last else 3))
        lifecycle.run(queue.queue_id)
        run = claimed(queue)

        def cancel(queue_id: int = queue.queue_id) -> bool:
            try:
                lifecycle.cancel(queue_id)
            except Conflict:
                return False
            return True

        cancelling = start_thread(cancel)
        in_thread(run.perform)
        accepted = cancelling.result(PATIENCE)
        run_to_end(queue)
        now = fresh(queue)
        assert now.state == "READY"
        assert now.operation_direction == ("BACKWARD" if accepted else "FORWARD")
        if accepted:
            obeyed += 1
            assert states(queue)[0] in ("SUCCESS, CANCELED", "FAILED, CANCELED")
        else:
            refused += 1
            assert set(states(queue)) == {"SUCCESS"}
    # Otherwise there was no race.
    assert obeyed


def test_a_cancel_between_reading_and_writing_is_not_lost(monkeypatch):
    """The operation reads the queue when it starts; the cancel comes before it ends."""
    queue = a_queue(a_job("a"), a_job("b"))
    lifecycle.run(queue.queue_id)
    run = claimed(queue)

    def cancelled_meanwhile(step: StepRun, tag: str, how: str) -> str:
        in_thread(lambda: lifecycle.cancel(queue.queue_id))
        return tag

    with monkeypatch.context() as during:
        # Only the request is written: no worker is there to stop the operation.
        during.setattr(lifecycle, "stop_forward_operation", lambda _: None)
        during.setattr(step_operations, "behave", cancelled_meanwhile)
        run.perform()
    assert (states(queue), fresh(queue).operation_direction) == (["SUCCESS", "NOTYET"], "BACKWARD")
    run_to_end(queue)
    assert states(queue) == ["SUCCESS, CANCELED", "NOTYET"]
