"""The page of a step queue and its run."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scheduler.steps import lifecycle
from scheduler.steps.models import StepQueue
from scheduler.steps.pages.operation_status import OperationStatus
from scheduler.steps.states import NO_OPERATION
from tests.integration.pages.clients import at_queue as at
from tests.integration.pages.clients import text_of as text
from tests.step_factories import a_job, a_queue, claimed, completed, execution, run_operation, run_to_end

pytestmark = pytest.mark.django_db


def statuses(page) -> list[tuple[OperationStatus, OperationStatus]]:
    return [tuple(cell.operation.status for cell in row.cells) for row in page.context["rows"]]


def test_the_page_shows_how_far_a_run_has_come(alice):
    queue = a_queue(a_job("one"), a_job("two"), a_job("three"))
    assert statuses(alice.get(at(queue))) == [(OperationStatus.PENDING, OperationStatus.NOT_NEEDED)] * 3
    lifecycle.run(queue.queue_id)
    run_operation(queue)
    page = alice.get(at(queue))
    assert [forward for forward, _ in statuses(page)] == [
        OperationStatus.SUCCEEDED,
        OperationStatus.RUNNING,
        OperationStatus.PENDING,
    ]
    assert "one did" in text(page)
    assert page.context["current"]["run"].id == execution(queue).id
    assert len([line for line in page.context["drawing"].lines if line.taken]) == 1


def test_the_page_shows_failures_their_errors_and_the_rollback(alice):
    queue = a_queue(a_job("one"), a_job("two", forward="fail"), a_job("three"))
    lifecycle.run(queue.queue_id)
    run_operation(queue)
    run_operation(queue)
    page = alice.get(at(queue))
    assert statuses(page) == [
        (OperationStatus.SUCCEEDED, OperationStatus.TO_ROLL_BACK),
        (OperationStatus.FAILED, OperationStatus.ROLLING_BACK),
        (OperationStatus.PENDING, OperationStatus.NOT_NEEDED),
    ]
    assert "Error: two fails as asked" in text(page)
    assert str(page.context["label"].name) == "rolling back"
    run_to_end(queue)
    events = text(alice.get(at(queue))).partition("Events")[2]
    assert "2. do · forward · failed" in events
    assert "1. undo · backward · rolled back" in events
    assert "CANCELED" not in events
    assert statuses(alice.get(at(queue)))[:2] == [
        (OperationStatus.SUCCEEDED, OperationStatus.ROLLED_BACK),
        (OperationStatus.FAILED, OperationStatus.ROLLED_BACK),
    ]


def test_the_page_shows_retries_and_the_worker(alice):
    job = {
        "forward_operation": "do",
        "backward_operation": "undo_stubbornly",
        "arguments": {"tag": "x", "forward": "fail", "failures": 1},
    }
    queue = a_queue(job)
    lifecycle.run(queue.queue_id)
    run_operation(queue)
    run_operation(queue)
    page = text(alice.get(at(queue)))
    assert "Next attempt" in page
    assert "(1 of 2 retries, 0 lost workers)" in page
    assert "retry scheduled" in page
    run_to_end(queue)
    again = a_queue(a_job())
    lifecycle.run(again.queue_id)
    claimed(again)
    page = text(alice.get(at(again)))
    assert "played@test" in page
    assert "Lease until" in page


def test_an_operation_shows_only_its_execution_of_the_current_run(alice):
    queue = completed(a_queue(a_job("one"), a_job("two")))

    def runs(page) -> list[bool]:
        return [row.cells[0].run is not None for row in page.context["rows"]]

    assert runs(alice.get(at(queue))) == [True, True]
    assert text(alice.get(at(queue))).count(">played@test<") == 2
    lifecycle.run(queue.queue_id)
    page = alice.get(at(queue))
    assert runs(page) == [True, False]
    assert page.context["rows"][0].cells[0].run.id == execution(queue).id


def test_long_or_secret_context_values_are_not_shown(alice):
    queue = a_queue({"forward_operation": "put", "arguments": {"size": 100_000}})
    completed(queue)
    StepQueue.objects.filter(pk=queue.pk).update(
        context={"api_key": "hush", "html": "<script>1</script>", "value": "x" * 100_000}
    )
    page = alice.get(at(queue))
    assert len(page.content) < 80_000
    assert "hush" not in text(page)
    assert "<script>1" not in text(page)
    assert "characters more" in text(page)


def test_a_job_without_operations_or_library_has_its_own_status(alice):
    queue = a_queue(
        {"forward_operation": "nothing"}, {"forward_operation": NO_OPERATION}, {"operation_library": "UNINIT"}
    )
    assert statuses(alice.get(at(queue)))[1] == (OperationStatus.PENDING, OperationStatus.NOT_NEEDED)
    completed(queue)
    assert statuses(alice.get(at(queue)))[1][0] is OperationStatus.NO_OPERATION


def test_a_long_queue_is_shown_around_its_current_job(alice):
    queue = a_queue(*({"forward_operation": NO_OPERATION} for _ in range(149)), a_job("last"))
    lifecycle.run(queue.queue_id)
    page = alice.get(at(queue))
    numbers = [row.step.number for row in page.context["rows"]]
    assert (numbers[0], numbers[-1], len(numbers)) == (91, 150, 60)
    assert "jobs 91 to 150 of 150" in text(page)
    assert page.context["strip"]
    earlier = alice.get(at(queue, "?from=31"))
    assert earlier.context["rows"][0].step.number == 31
    assert f"{at(queue, '/live')}?from=31" in text(earlier)


def test_the_page_listens_to_the_queues_own_socket(alice):
    queue = a_queue(a_job())
    assert f'data-events="/ws/queues/{queue.queue_id}"' in text(alice.get(at(queue)))


def test_the_page_needs_no_more_queries_for_many_jobs_than_for_one(alice):
    def queries(jobs: int) -> int:
        queue = completed(a_queue(*(a_job(str(number)) for number in range(jobs))))
        with CaptureQueriesContext(connection) as captured:
            alice.get(at(queue))
        return len(captured)

    assert queries(30) == queries(1)
