"""Data in graphs: results of dependencies in arguments and bodies, and jobs that a body submits."""

from datetime import datetime

import pytest
from django.utils import timezone

from dure.failures import FailureType
from jobs import lifecycle, submission
from jobs.errors import Fenced, Invalid
from jobs.models import Batch, Execution, Job
from jobs.specs import ExecutionSpec
from jobs.states import JobStatus
from scheduler.clock import database_now
from scheduler.workflows import runs
from tests.engine_workers import ended, lines, outcomes, result
from tests.factories import a_job, an_office, fresh, running, serve_roles, submitted
from tests.schedule_factories import a_workflow
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)


def echo(ref, value=None, **fields):
    return {"ref": ref, "task_id": "try.echo", "args": {"value": value}, **fields}


def refusals(office, *jobs):
    with pytest.raises(Invalid) as refused:
        submission.read(office, {"jobs": list(jobs)})
    assert not Job.objects.exists() and not Batch.objects.exists()
    return refused.value.errors_in_english()


def test_results_flow_through_three_jobs(worker):
    office = an_office()
    jobs = submitted(
        office,
        echo("a", {"rows": [{"id": 41}]}),
        echo("b", [{"$result": "a", "path": "rows.0.id"}, "and"], depends_on=["a"]),
        {
            "ref": "c",
            "task_id": "try.data",
            "args": {"value": {"$result": "b", "path": "0"}},
            "depends_on": ["a", "b"],
        },
    )
    assert ended(jobs[2]).status == JobStatus.DONE
    assert result(jobs[1]) == [41, "and"]
    expected = {"a": {"rows": [{"id": 41}]}, "b": [41, "and"]}
    assert result(jobs[2]) == {"value": 41, "results": expected, "input": None, "scheduled_for": None}
    # The references stay in the arguments.
    assert fresh(jobs[1]).args["value"][0] == {"$result": "a", "path": "rows.0.id"}


def test_the_result_of_an_earlier_job_is_named_by_its_id(worker):
    office = an_office()
    (first,) = submitted(office, echo("a", "early"))
    ended(first)
    (second,) = submitted(office, echo("b", {"$result": str(first.id)}, depends_on=[str(first.id)]))
    assert result(ended(second)) == "early"


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ({"$result": "a", "path": "x.y"}, "There is no 'x' in $result a, path 'x.y'."),
        ({"$result": "failed"}, "The dependency 'failed' has no result."),
    ],
)
def test_a_reference_that_cannot_be_resolved_fails_the_job_without_a_retry_and_is_named(
    worker, reference, text
):
    office = an_office()
    failed = {"ref": "failed", "task_id": "demo.fail", "args": {"message": "no"}, "max_retries": 0}
    jobs = submitted(
        office,
        echo("a", {}),
        failed,
        echo("b", reference, depends_on=["a", "failed"], on_dependency_failure="run"),
    )
    job = ended(jobs[2])
    assert (job.status, job.failure_type) == (JobStatus.FAILED, FailureType.INVALID_ARGS)
    assert text in job.error_message
    assert len(outcomes(job)) == 1


def test_a_value_of_the_wrong_type_fails_the_job(worker):
    office = an_office()
    jobs = submitted(
        office,
        echo("a", "text"),
        {"ref": "b", "task_id": "try.data", "args": {"value": {"$result": "a"}}, "depends_on": ["a"]},
    )
    job = ended(jobs[1])
    assert (job.status, job.failure_type) == (JobStatus.FAILED, FailureType.INVALID_ARGS)


def test_arguments_that_become_too_large_fail_the_job(worker):
    office = an_office()
    many = [{"$result": "a"}] * 9
    jobs = submitted(office, echo("a", "x" * 200_000), echo("b", many, depends_on=["a"]))
    job = ended(jobs[1])
    assert job.failure_type == FailureType.INVALID_ARGS
    assert "Write large results to a file" in job.error_message


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"$result": "other"}, "`$result` names 'other', which is not in `depends_on`."),
        ({"$result": 3}, "A reference has"),
        ({"$input": "month"}, "`$input` is for the steps of a workflow."),
    ],
)
def test_a_reference_that_could_never_be_resolved_is_refused_at_submission(value, text):
    errors = refusals(an_office(), echo("other"), echo("a"), echo("b", [value], depends_on=["a"]))
    assert errors == {"jobs.2.args": [errors["jobs.2.args"][0]]}
    assert text in errors["jobs.2.args"][0]


def test_arguments_without_references_are_still_checked_beside_those_with_them():
    job = {"ref": "b", "task_id": "demo.sum", "depends_on": ["a"], "args": {"number": {"$result": "a"}}}
    errors = refusals(an_office(), echo("a"), job)
    assert any("number" in text for text in errors["jobs.1.args"])


def test_jobs_that_a_body_submits_run_once_although_its_process_dies(worker, path):
    office = an_office(max_concurrent_jobs=3)
    args = {"path": path, "width": 8, "deaths": 2}
    (job,) = submitted(office, {"task_id": "try.fan_out", "args": args}, name="fan out")
    ids = result(ended(job))
    assert [each for each, _ in outcomes(job)] == ["lost", "lost", "success"]
    eventually(lambda: lines(path)[-1:] == ["join"], what="the join")
    assert sorted(lines(path)[:-1]) == [str(number) for number in range(8)]
    assert Job.objects.filter(batch=job.batch_id).count() == 10
    assert set(map(str, Job.objects.exclude(id=job.id).values_list("id", flat=True))) == set(ids)


def own_run():
    """A run that the test executes: no worker takes its role."""
    serve_roles("Test")
    return running(a_job(an_office(), role="Test")).claim


def test_only_the_owner_of_a_run_can_submit():
    run, child = own_run(), echo("b", role="Test")
    with pytest.raises(Fenced):
        lifecycle.submit_from_run(run.execution_id, run.fence - 1, "#1", [child])
    first = lifecycle.submit_from_run(run.execution_id, run.fence, "#1", [child])
    assert lifecycle.submit_from_run(run.execution_id, run.fence, "#1", [child]) == first
    assert lifecycle.submit_from_run(run.execution_id, run.fence, "#2", [child]) != first
    assert Job.objects.count() == 3


def test_a_refused_submission_of_a_body_writes_nothing():
    run = own_run()
    with pytest.raises(Invalid):
        lifecycle.submit_from_run(run.execution_id, run.fence, "#1", [echo("b"), echo("b")])
    assert Job.objects.get().submissions is None


def test_the_steps_of_a_workflow_read_its_input_and_when_it_was_due(worker):
    data = {"ref": "a", "task_id": "try.data", "args": {"value": {"$input": "numbers.1"}}}
    workflow = a_workflow(an_office(), steps=[data], status="draft")
    due = database_now()
    run = runs.run_now(workflow.id, user_id=None, now=due, run_input={"numbers": [4, 7]})
    (job,) = Job.objects.filter(batch=run.batch_id)
    answer = result(ended(job))
    assert (answer["value"], answer["input"]) == (7, {"numbers": [4, 7]})
    assert datetime.fromisoformat(answer["scheduled_for"]) == due


def test_a_scheduled_run_knows_its_due_time(worker):
    due = timezone.now().replace(microsecond=0)
    spec = ExecutionSpec(task_id="try.data", role="default", trigger="SCHEDULE", args={}, scheduled_for=due)
    lifecycle.start_executions([spec])
    eventually(lambda: Execution.objects.get(id=spec.id).status == "SUCCESS", what="the run")
    assert datetime.fromisoformat(Execution.objects.get(id=spec.id).result["scheduled_for"]) == due
