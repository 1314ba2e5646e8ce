"""New step queues and jobs: the defaults of every attribute, and the links of jobs."""

import pytest
from django.db import IntegrityError, transaction

from jobs.errors import Conflict, Invalid, TooLarge
from scheduler.steps import lifecycle, queues
from scheduler.steps.models import Step, StepEvent, StepQueue
from tests.factories import a_user
from tests.step_factories import a_job, a_queue, completed, fresh, states, steps
from tests.step_operations import LIBRARY

pytestmark = pytest.mark.django_db


def test_the_first_job_makes_a_queue_ready_between_head_and_tail():
    queue = a_queue(a_job())
    (job,) = steps(queue)
    assert (job.prev_job, job.next_job) == ("HEAD", "TAIL")
    assert (queue.state, queue.job_number) == ("READY", 1)
    assert queue.job_queue == queue.last_job == str(job.job_id)


def test_a_later_job_is_linked_behind_the_last_one():
    queue = a_queue(a_job("a"), a_job("b"), a_job("c"))
    ids = [str(step.job_id) for step in steps(queue)]
    assert [step.prev_job for step in steps(queue)] == ["HEAD", ids[0], ids[1]]
    assert [step.next_job for step in steps(queue)] == [ids[1], ids[2], "TAIL"]
    assert (queue.job_queue, queue.last_job, queue.job_number) == (ids[0], ids[2], 3)


@pytest.mark.parametrize(
    ("queue_library", "own", "becomes", "state"),
    [
        (LIBRARY, "UNINIT", LIBRARY, "NOTYET"),
        ("UNINIT", LIBRARY, LIBRARY, "NOTYET"),
        ("UNINIT", "UNINIT", "UNINIT", "NOLIB"),
        ("provisioning", LIBRARY, LIBRARY, "NOTYET"),
    ],
)
def test_a_job_without_a_library_takes_its_queues_library(queue_library, own, becomes, state):
    queue = a_queue({"operation_library": own}, queue_library=queue_library)
    (job,) = steps(queue)
    assert (job.operation_library, job.state) == (becomes, state)


def test_a_queue_takes_jobs_again_after_its_run():
    queue = completed(a_queue(a_job("a")))
    queues.enqueue(queue.queue_id, a_job("b"))
    assert states(queue) == ["SUCCESS", "NOTYET"]
    assert states(completed(queue)) == ["SUCCESS", "SUCCESS"]


def is_linked(queue):
    """Whether numbers, links and the queue's own fields say the same."""
    ids = [str(step.job_id) for step in steps(queue)]
    assert [step.number for step in steps(queue)] == list(range(1, len(ids) + 1))
    assert [step.prev_job for step in steps(queue)] == ["HEAD", *ids[:-1]][: len(ids)]
    assert [step.next_job for step in steps(queue)] == [*ids[1:], "TAIL"][-len(ids) :]
    now = fresh(queue)
    assert (now.job_number, now.job_queue, now.last_job) == (len(ids), ids[0], ids[-1])
    return True


@pytest.mark.parametrize(
    ("moved", "to", "order"), [("a", 4, "bcda"), ("d", 1, "dabc"), ("b", 3, "acbd"), ("c", 3, "abcd")]
)
def test_a_job_is_moved_within_its_queue(moved, to, order):
    queue = a_queue(*[a_job(tag) for tag in "abcd"])
    job = next(step for step in steps(queue) if step.arguments["tag"] == moved)
    queues.move_job(queue.queue_id, job.job_id, to)
    assert "".join(step.arguments["tag"] for step in steps(queue)) == order
    assert is_linked(queue)
    assert completed(queue).context["notes"] == [f"{tag} FORWARD" for tag in order]


@pytest.mark.parametrize(("number", "left"), [(1, "bc"), (2, "ac"), (3, "ab")])
def test_a_removed_job_is_deleted_and_its_neighbours_are_linked(number, left):
    queue = a_queue(*[a_job(tag) for tag in "abc"])
    queues.remove_job(queue.queue_id, steps(queue)[number - 1].job_id)
    assert "".join(step.arguments["tag"] for step in steps(queue)) == left
    assert is_linked(queue)
    queues.enqueue(queue.queue_id, a_job("z"))
    assert is_linked(queue)


def test_a_queue_is_empty_after_its_last_job_was_removed():
    queue = completed(a_queue(a_job()))
    queues.remove_job(queue.queue_id, steps(queue)[0].job_id)
    now = fresh(queue)
    assert (now.state, now.job_number, now.job_queue, now.last_job) == ("EMPTY", 0, "UNINIT", "UNINIT")
    queues.enqueue(queue.queue_id, a_job("b"))
    assert states(completed(queue)) == ["SUCCESS"]


def test_a_running_queue_keeps_its_jobs_and_their_order():
    queue = a_queue(a_job("a"), a_job("b"))
    lifecycle.run(queue.queue_id)
    first = steps(queue)[0].job_id
    for change in (
        lambda: queues.move_job(queue.queue_id, first, 2),
        lambda: queues.remove_job(queue.queue_id, first),
    ):
        with pytest.raises(Conflict) as refused:
            change()
        assert refused.value.code == "queue_running"
    assert steps(queue)[0].job_id == first


def test_deleting_a_queue_deletes_its_jobs_and_events():
    queue = completed(a_queue(a_job()))
    queues.delete(queue.queue_id)
    assert not StepQueue.objects.exists()
    assert not Step.objects.exists()
    assert not StepEvent.objects.exists()


@pytest.mark.parametrize(
    ("job", "field"),
    [
        ({"operation_library": "os"}, "operation_library"),
        ({"operation_library": "workers.provisioning"}, "operation_library"),
        ({"operation_library": "tests.step_operations"}, "operation_library"),
        ({"forward_operation": "behave"}, "forward_operation"),
        ({"forward_operation": "os.system"}, "forward_operation"),
        ({"forward_operation": "__class__"}, "forward_operation"),
        ({"backward_operation": "witnessed"}, "backward_operation"),
        (a_job(arguments={"tag": 1}), "arguments"),
        (a_job(arguments={"unknown": 1}), "arguments"),
        ({"forward_operation": "do", "arguments": [1]}, "arguments"),
        ({"backward_operation": "undo", "arguments": [None]}, "arguments"),
        ({"forward_operation": "nothing", "arguments": "something"}, "arguments"),
    ],
)
def test_a_job_with_an_unregistered_operation_is_refused(job, field):
    queue = a_queue()
    with pytest.raises(Invalid) as refused:
        queues.enqueue(queue.queue_id, job)
    assert field in refused.value.errors
    assert (fresh(queue).state, steps(queue)) == ("EMPTY", [])


def test_a_queue_names_only_a_registered_library():
    with pytest.raises(Invalid) as refused:
        a_queue(queue_library="subprocess")
    assert refused.value.code == "unknown_library"


def test_an_operation_takes_the_arguments_that_it_names():
    operations = {"forward_operation": "nothing", "backward_operation": "undo"}
    queue = a_queue({**operations, "arguments": {"tag": "only the undo's"}})
    assert len(steps(queue)) == 1


def test_a_queues_length_and_its_jobs_arguments_are_limited(settings):
    settings.DURE_MAX_ARGS_BYTES = 1024
    settings.DURE_MAX_STEPS_PER_QUEUE = 2
    queue = a_queue(a_job())
    with pytest.raises(TooLarge):
        queues.enqueue(queue.queue_id, a_job("x" * 2000))
    queues.enqueue(queue.queue_id, a_job())
    with pytest.raises(Invalid) as refused:
        queues.enqueue(queue.queue_id, a_job())
    assert refused.value.code == "queue_full"


@pytest.mark.parametrize(
    "broken",
    [
        {"state": "RUNNING"},
        {"state": "READY"},
        {"state": "PAUSED"},
        {"operation_direction": "SIDEWAYS"},
        {"running_job": "0199c0de-0000-7000-8000-000000000001"},
        {"again": True},
        {"job_number": 1},
    ],
)
def test_the_database_refuses_an_inconsistent_queue(broken):
    queue = a_queue()
    with pytest.raises(IntegrityError), transaction.atomic():
        StepQueue.objects.filter(pk=queue.pk).update(**broken)


@pytest.mark.parametrize(
    "broken",
    [
        {"expired_time": 0},
        {"prev_job": "UNLINK"},
        {"number": 1},
        {"queue": None},
        {"number": None},
        {"undo_retries": 21},
    ],
)
def test_the_database_refuses_an_inconsistent_job(broken):
    queue = a_queue(a_job(), a_job())
    with pytest.raises(IntegrityError), transaction.atomic():
        Step.objects.filter(queue=queue, number=2).update(**broken)


@pytest.mark.parametrize(
    "broken",
    [{"owner": None}, {"prev_job": "HEAD"}, {"next_job": "TAIL"}, {"number": 1}, {"undo_retries": 21}],
)
def test_the_database_refuses_an_inconsistent_job_of_no_queue(broken):
    job = queues.create_job({}, a_user())
    with pytest.raises(IntegrityError), transaction.atomic():
        Step.objects.filter(pk=job.pk).update(**broken)
