"""`manage.py executions`: list, show and cancel runs of every trigger."""

from uuid import UUID

import pytest

from jobs import bulk
from jobs.models import Event, Execution
from jobs.states import ExecutionStatus, JobStatus, Trigger
from scheduler.api import shapes
from tests.factories import a_job, a_start, an_office, claimed, done, fresh
from tests.integration.commands import run

pytestmark = pytest.mark.django_db

NOBODY = "00000000-0000-7000-8000-000000000000"


def status_of(execution: UUID) -> str:
    return Execution.objects.get(pk=execution).status


def ids_of(answer) -> list[str]:
    return [row["execution_id"] for row in answer.json["results"]]


@pytest.fixture
def executions_by_name():
    office = an_office(name="studio")
    running = a_job(office, role="FE")
    claimed(running, worker="jobs@far")
    return {
        "done": done(a_job(office, role="BE")).execution_id,
        "running": fresh(running).execution_id,
        "manual": a_start(),
        "scheduled": a_start(trigger=Trigger.SCHEDULE, source=NOBODY, role="QA", task_id="demo.sleep"),
    }


FILTERS: list[tuple[list[str], set[str]]] = [
    ([], {"done", "running", "manual", "scheduled"}),
    (["--status", "running"], {"running"}),
    (["--status", "PENDING,SUCCESS"], {"done", "manual", "scheduled"}),
    (["--trigger", "manual,schedule"], {"manual", "scheduled"}),
    (["--office", "studio"], {"done", "running"}),
    (["--role", "QA"], {"scheduled"}),
    (["--task", "demo.sleep"], {"scheduled"}),
    (["--schedule", NOBODY], {"scheduled"}),
    (["--worker", "jobs@far"], {"running"}),
    (["--since", "1h"], {"done", "running", "manual", "scheduled"}),
    (["--since", "2030-01-01"], set()),
]


def test_filters_narrow_the_list(executions_by_name):
    for words, names in FILTERS:
        answer = run("executions", "list", *words, "--json")
        listed = {name for name, run_id in executions_by_name.items() if str(run_id) in ids_of(answer)}
        assert (listed, answer.code) == (names, 0 if names else 1), words


def test_the_list_has_the_newest_first_is_bounded_and_speaks_as_the_api_does():
    older, newer = a_start(), a_start()
    answer = run("executions", "list", "--limit", 1, "--json")
    assert ids_of(answer) == [str(newer)]
    assert answer.json["more"] is True
    assert answer.json["results"][0] == shapes.execution_json(Execution.objects.get(pk=newer))
    assert str(older) in run("executions", "list").out


def test_an_execution_is_shown_with_its_attempts_and_its_lease():
    job = a_job(an_office(), max_retries=0)
    claimed(job, worker="jobs@far")
    run_id = fresh(job).execution.id
    output = run("executions", "show", run_id).out
    assert "lease until" in output and "jobs@far" in output and str(job.id) in output
    document = run("executions", "show", run_id, "--json").json
    assert document == shapes.execution_json(Execution.objects.get(pk=run_id))
    assert run("executions", "show", NOBODY).code == 1


def test_an_execution_that_no_job_owns_is_cancelled():
    execution = a_start()
    assert run("executions", "cancel", execution).code == 0
    assert status_of(execution) == ExecutionStatus.CANCELLED
    again = run("executions", "cancel", execution)
    assert again.code == 1
    assert f"{execution}  skipped: it is CANCELLED" in again.lines


def test_an_execution_of_a_job_is_cancelled_with_its_job_and_actor():
    job = a_job(an_office())
    answer = run("executions", "cancel", fresh(job).execution_id, "--actor", "cli:mina", "--reason", "stuck")
    assert answer.code == 0
    assert fresh(job).status == JobStatus.CANCELLED
    assert Event.objects.filter(job_id=job.id).latest("id").details == {
        "actor": "cli:mina",
        "reason": "stuck",
    }


def test_a_cancel_of_an_ended_run_does_not_cancel_the_newer_run_of_its_job():
    job = a_job(an_office(), max_retries=0)
    running = claimed(job)
    selected = Execution.objects.get(pk=running.execution)
    running.fail()
    assert run("jobs", "retry", job.id).code == 0
    assert bulk.cancel_executions([selected], actor="cli:mina", reason="") == 0
    assert fresh(job).status == JobStatus.PROCESSING
    assert fresh(job).cancelled_at is None


def test_all_matching_executions_are_cancelled_with_consent():
    office = an_office()
    ended, live = done(a_job(office)), a_job(office)
    alone = a_start()
    assert run("executions", "cancel", "--status", "PENDING").code == 2
    dry = run("executions", "cancel", "--all", "--dry-run", "--json")
    assert (dry.code, dry.json["changed"]) == (0, 2)
    assert status_of(alone) == ExecutionStatus.PENDING
    answer = run("executions", "cancel", "--all", "--yes", "--json")
    assert (answer.code, answer.json["changed"], answer.json["refused"]) == (0, 2, 0)
    assert fresh(live).status == JobStatus.CANCELLED
    assert status_of(alone) == ExecutionStatus.CANCELLED
    assert fresh(ended).status == JobStatus.DONE
    assert run("executions", "cancel", "--all", "--yes").code == 1


@pytest.mark.parametrize(
    "words",
    [
        ["cancel"],
        ["cancel", NOBODY, "--all"],
        ["cancel", NOBODY, "--role", "FE"],
        ["list", "--status", "done"],
        ["list", "--trigger", "nobody"],
        ["show"],
    ],
)
def test_wrong_usage_is_2(words):
    assert run("executions", *words).code == 2
