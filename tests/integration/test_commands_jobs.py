"""`manage.py jobs`: lists, details and actions."""

import os
import pty
import subprocess
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from jobs import serialize
from jobs.models import Event, Job
from jobs.states import EventType, JobStatus
from tests.factories import a_job, an_office, claimed, done, fresh, submitted
from tests.integration.commands import run, run_process
from tests.workers import database_url

pytestmark = pytest.mark.django_db

NOBODY = "00000000-0000-7000-8000-000000000000"


def ids_of(answer) -> list[str]:
    return [job["id"] for job in answer.json["results"]]


def failed(office, **fields) -> Job:
    job = a_job(office, max_retries=0, **fields)
    claimed(job).fail(error="the disk is full", traceback='File "x"\n  \x1b[31mwrite()')
    return fresh(job)


# --- list --------------------------------------------------------------------------------------------


def test_the_list_is_newest_first_and_limited():
    jobs = submitted(an_office(), *[{"ref": f"job {number}"} for number in range(4)])
    answer = run("jobs", "list", "--limit", 3, "--json")
    assert ids_of(answer) == [str(job.id) for job in jobs[:0:-1]]
    assert answer.json["more"] is True
    assert answer.code == 0
    assert "There are more: these are the newest 3" in run("jobs", "list", "--limit", 3).out
    assert run("jobs", "list", "--limit", 4, "--json").json["more"] is False


@pytest.fixture
def jobs_by_name():
    here, there = an_office(name="here"), an_office(name="there")
    return {
        "done": done(a_job(here, role="FE")),
        "failed": failed(here, role="BE", task_id="demo.fail", args={}),
        "waiting": submitted(here, {"ref": "a", "role": "QA"}, {"ref": "b", "depends_on": ["a"]})[1],
        "elsewhere": a_job(there, role="FE"),
    }


FILTERS: list[tuple[list[str], set[str]]] = [
    (["--status", "done"], {"done"}),
    (["--status", "done,FAILED"], {"done", "failed"}),
    (["--status", "done", "--status", "failed"], {"done", "failed"}),
    (["--status", "pending"], {"waiting"}),
    (["--role", "fe"], {"done", "elsewhere"}),
    (["--task", "demo.fail"], {"failed"}),
    (["--failure", "error"], {"failed"}),
    (["--office", "there"], {"elsewhere"}),
    (["--office", "here", "--role", "FE"], {"done"}),
    (["--trigger", "WORKFLOW"], set()),
    (["--since", "1h", "--status", "done"], {"done"}),
    (["--since", "2030-01-01"], set()),
]


def test_filters_narrow_the_list(jobs_by_name):
    for words, names in FILTERS:
        answer = run("jobs", "list", *words, "--json")
        listed = {name for name, job in jobs_by_name.items() if str(job.id) in ids_of(answer)}
        assert listed == names, words
        assert answer.code == (0 if answer.json["results"] else 1), words


def test_an_office_is_found_by_its_id_or_a_unique_name():
    office = an_office(name="twin")
    job = a_job(office)
    assert ids_of(run("jobs", "list", "--office", office.id, "--json")) == [str(job.id)]
    an_office(name="twin")
    answer = run("jobs", "list", "--office", "twin")
    assert (answer.code, answer.err) == (2, "Several offices are called 'twin': give an id.\n")
    assert run("jobs", "list", "--office", "nobody").code == 2


def test_since_compares_the_time_of_creation():
    job = a_job(an_office())
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(hours=3))
    assert run("jobs", "list", "--since", "2h").code == 1
    assert run("jobs", "list", "--since", "4h").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ["list", "--status", "nonsense"],
        ["list", "--limit", "0"],
        ["list", "--limit", "1001"],
        ["list", "--since", "yesterday"],
        ["show", "no-uuid"],
        ["cancel"],
        ["cancel", NOBODY, "--role", "FE"],
        ["cancel", NOBODY, "--all"],
        ["retry", "--role", "FE", "--reason", "x" * 501],
        ["reprioritise", NOBODY],
        ["reprioritise", NOBODY, "--priority", "1", "--delta", "1"],
        ["reprioritise", NOBODY, "--urgent", "--not-urgent"],
        ["nonsense"],
    ],
)
def test_wrong_usage_exits_with_2_and_changes_nothing(words):
    job = a_job(an_office(), role="FE")
    assert run("jobs", *words).code == 2
    assert fresh(job).status == job.status


# --- show --------------------------------------------------------------------------------------------


def test_a_job_is_shown_with_its_reasons_attempts_and_events():
    office = an_office(max_concurrent_jobs=1)
    first, second = failed(office), a_job(office)
    output = run("jobs", "show", first.id).out
    assert "the disk is full" in output
    assert 'traceback of attempt 1\n  File "x"\n     [31mwrite()' in output
    assert "job_failed" in output
    waiting = a_job(office)
    assert waiting.status == JobStatus.READY
    assert "the office allows 1" in run("jobs", "show", waiting.id).out
    assert second.status == JobStatus.PROCESSING


def test_jobs_show_writes_the_apis_document_with_explanation_and_events_as_json():
    job = failed(an_office())
    document = run("jobs", "show", job.id, "--json").json
    explanation, events = document.pop("explain"), document.pop("events")
    assert document == serialize.job_detail_json(job)
    assert explanation["state"] == JobStatus.FAILED
    assert events[0]["type"] == EventType.JOB_FAILED
    assert document["executions"][0]["attempts"][0]["error_message"] == "the disk is full"


def test_a_running_job_shows_its_worker_and_lease():
    job = a_job(an_office())
    claimed(job, worker="jobs@far")
    output = run("jobs", "show", job.id).out
    assert "Runs on jobs@far." in output
    assert "lease until" in output


def test_an_unknown_job_exits_with_1_and_one_line():
    answer = run("jobs", "show", NOBODY)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == f"There is no job {NOBODY}.\n"


def test_a_tenants_text_cannot_control_the_terminal():
    job = a_job(an_office(name="\x1b[2Jwiped"), ref="\x1b[31mred\r")
    for words in (["list"], ["show", job.id], ["cancel", job.id]):
        assert "\x1b" not in run("jobs", *words).out


# --- act ---------------------------------------------------------------------------------------------


def last_event(job: Job) -> Event:
    return Event.objects.filter(job_id=job.id).latest("id")


def test_a_job_given_by_id_is_cancelled_with_its_actor_and_reason():
    job = a_job(an_office(max_concurrent_jobs=0))
    answer = run("jobs", "cancel", job.id, "--actor", "cli:mina", "--reason", "not needed")
    assert (answer.code, answer.lines[0]) == (0, "1 job: cancelled, or asked to stop.")
    assert fresh(job).status == JobStatus.CANCELLED
    assert last_event(job).details == {"actor": "cli:mina", "reason": "not needed"}


def test_the_default_actor_is_the_system_user(monkeypatch):
    monkeypatch.setenv("LOGNAME", "jiwoo")
    job = a_job(an_office(max_concurrent_jobs=0))
    run("jobs", "cancel", job.id)
    assert last_event(job).details["actor"] == "cli:jiwoo"


def test_missing_and_skipped_jobs_are_reported_one_by_one():
    office = an_office()
    ended, live = done(a_job(office)), a_job(office)
    answer = run("jobs", "cancel", live.id, ended.id, NOBODY)
    assert answer.code == 1
    assert f"{ended.id}  skipped: it is done" in answer.lines
    assert f"{NOBODY}  does not exist" in answer.lines
    assert fresh(live).cancelled_at is not None
    document = run("jobs", "cancel", ended.id, NOBODY, "--json").json
    assert document["skipped_jobs"] == [{"id": str(ended.id), "status": "done"}]
    assert (document["changed"], document["missing"]) == (0, [NOBODY])


def test_matching_jobs_are_changed_only_with_consent():
    office = an_office(name="studio", max_concurrent_jobs=0)
    jobs = submitted(office, *[{"role": "FE"}] * 3)
    refused = run("jobs", "cancel", "--role", "FE")
    assert refused.code == 2
    assert refused.err.startswith("This would cancel 3 jobs of studio: say --yes to do it")
    assert {fresh(job).status for job in jobs} == {JobStatus.READY}
    assert run("jobs", "cancel", "--role", "FE", "--yes").code == 0
    assert {fresh(job).status for job in jobs} == {JobStatus.CANCELLED}


def test_a_dry_run_reports_what_would_be_skipped_and_changes_nothing():
    office = an_office(max_concurrent_jobs=1)
    ended, live = done(a_job(office)), a_job(office)
    answer = run("jobs", "cancel", "--office", office.id, "--dry-run")
    assert answer.code == 0
    assert answer.lines[0] == "This would cancel 1 job of test, and skip 1 (1 done). Nothing was changed."
    assert f"{ended.id}  skipped: it is done" in answer.lines
    assert fresh(live).cancelled_at is None
    document = run("jobs", "cancel", "--office", office.id, "--dry-run", "--json").json
    assert (document["dry_run"], document["changed"], document["skipped"]) == (True, 1, 1)


def test_matching_jobs_of_several_offices_are_changed_and_ended_ones_skipped():
    here, there = an_office(max_concurrent_jobs=1), an_office(max_concurrent_jobs=1)
    ended = done(a_job(here))
    live = [a_job(here), a_job(there), a_job(there)]
    answer = run("jobs", "cancel", "--all", "--yes", "--json")
    assert (answer.code, answer.json["changed"], answer.json["skipped"]) == (0, 3, 1)
    assert all(fresh(job).cancelled_at for job in live)
    assert fresh(ended).status == JobStatus.DONE


def test_a_command_that_matches_nothing_exits_with_1():
    assert run("jobs", "cancel", "--role", "FE", "--yes").code == 1
    assert run("jobs", "retry", "--all", "--dry-run").code == 1


def test_a_failed_job_is_retried():
    job = failed(an_office())
    assert run("jobs", "retry", job.id, "--reason", "there is room now").code == 0
    assert fresh(job).status in (JobStatus.READY, JobStatus.PROCESSING)
    assert fresh(job).execution_id != job.execution_id
    retrying = Event.objects.get(job_id=job.id, type=EventType.JOB_RETRYING)
    assert retrying.details["reason"] == "there is room now"


def test_a_retry_whose_unique_key_is_taken_is_reported_as_refused():
    office = an_office()
    old = failed(office, unique_key="nightly")
    a_job(office, unique_key="nightly")
    answer = run("jobs", "retry", old.id)
    assert answer.code == 1
    assert "1 job: refused" in answer.out
    assert fresh(old).status == JobStatus.FAILED


def test_a_priority_is_adjusted_and_set():
    office = an_office(max_concurrent_jobs=0)
    first, second = submitted(office, {}, {"role": "FE"})
    answer = run(
        "jobs", "reprioritise", first.id, "--delta", "-10", "--urgent", "--actor", "mina", "--reason", "soon"
    )
    assert answer.code == 0
    assert (fresh(first).priority, fresh(first).urgent) == (90, True)
    assert {("actor", "mina"), ("reason", "soon")} <= last_event(first).details.items()
    assert run("jobs", "reprioritise", "--role", "FE", "--priority", 5, "--yes").code == 0
    assert (fresh(second).priority, fresh(second).urgent) == (5, False)
    assert run("jobs", "reprioritise", first.id, "--not-urgent").code == 0
    assert fresh(first).urgent is False


@pytest.mark.parametrize(
    "words", [["jobs"], ["jobs", "cancel"], ["executions"], ["schedules", "run"], ["doctor"]], ids=" ".join
)
def test_the_help_has_the_exit_codes(capsys, words):
    assert run(*words, "--help").code == 0
    output = capsys.readouterr().out
    assert "exit codes:" in output and "\n  0  " in output and "\n  2  " in output


# --- as a process ------------------------------------------------------------------------------------


def manage(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return run_process(*words, DATABASE_URL=database_url(), **options)


@pytest.mark.django_db(transaction=True)
def test_the_command_lists_by_default_and_sets_the_exit_code():
    a_job(an_office(), ref="alone")
    output = manage("jobs", "--status", "ready,processing")
    assert (output.returncode, output.stderr) == (0, "")
    assert "alone" in output.stdout
    wrong = manage("jobs", "cancel", "--status", "nonsense")
    assert wrong.returncode == 2
    assert "is none of pending" in wrong.stderr and "Traceback" not in wrong.stderr


def test_an_unreachable_database_is_reported_in_one_line():
    output = run_process("jobs", DATABASE_URL="postgresql://dure:geheim@127.0.0.1:1/dure")
    assert output.returncode == 1
    assert output.stderr.startswith("The database does not answer")
    assert output.stderr.count("\n") == 1
    assert "geheim" not in output.stderr


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("typed, code, status", [("2\n", 0, "cancelled"), ("yes\n", 1, "ready")])
def test_the_number_has_to_be_typed_on_a_terminal(typed, code, status):
    jobs = submitted(an_office(max_concurrent_jobs=0), {"role": "FE"}, {"role": "FE"})
    terminal, end = pty.openpty()
    os.write(terminal, typed.encode())
    try:
        output = manage("jobs", "cancel", "--role", "FE", stdin=end)
    finally:
        os.close(end)
        os.close(terminal)
    assert "Type 2 to continue" in output.stderr
    assert output.returncode == code
    assert {fresh(job).status for job in jobs} == {status}
