"""The page of a job: its attempts, its neighbours, its result, and its actions."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.models import Execution, Worker
from jobs.states import JobStatus
from tests.factories import done, fresh, running, submitted
from tests.integration.pages.clients import at, text_of

pytestmark = pytest.mark.django_db


def test_a_job_shows_its_attempts_its_reasons_and_its_arguments(office, alice):
    args = {"method": "GET", "url": "https://a.example", "headers": {"Authorization": "Bearer abc"}}
    request = {"ref": "first", "task_id": "http.request", "args": args}
    first, second = submitted(office, request, {"ref": "second", "depends_on": ["first"]}, name="x")
    running(first, worker="w7@test").fail(error="it broke <b>", delay_ms=60_000)
    page = alice.get(at(office, f"/jobs/{first.id}")).content.decode()
    assert "w7@test" in page
    assert "it broke &lt;b&gt;" in page
    assert "Next attempt at " in page
    assert "https://a.example" in page
    assert "Bearer abc" not in page
    assert f"/jobs/{second.id}" in page
    assert "Waiting for first." in alice.get(at(office, f"/jobs/{second.id}")).content.decode()


def test_a_running_job_shows_its_lease_its_heartbeat_and_its_dependencies(office, alice):
    first, second, _ = submitted(
        office,
        {"ref": "first"},
        {"ref": "second", "depends_on": ["first"]},
        {"ref": "third", "depends_on": ["first", "second"]},
        name="x",
    )
    done(first)
    running(second, worker="w7@test")
    now = timezone.now()
    Worker.objects.create(name="w7@test", started_at=now, seen_at=now - timedelta(seconds=7))
    page = alice.get(at(office, f"/jobs/{second.id}"))
    text = page.content.decode()
    assert page.context["current"].worker == "w7@test"
    assert "Lease until" in text
    assert page.context["worker"].name == "w7@test"
    assert "</time> ago" in text
    drawing = page.context["drawing"]
    critical = {box.node.ref: box.critical for box in drawing.boxes}
    assert critical == {"first": False, "second": True, "third": False}
    assert len(drawing.lines) == 3
    assert f"/batches/{first.batch_id}#box-{second.id}" in text
    ended = alice.get(at(office, f"/jobs/{first.id}"))
    assert ended.context["current"] is None


def test_further_dependants_need_no_further_statements(office, alice):
    def statements(count):
        dependants = [{"ref": f"dependant {number}", "depends_on": ["first"]} for number in range(count)]
        first, *_ = submitted(office, {"ref": "first"}, *dependants, name="x")
        with CaptureQueriesContext(connection) as queries:
            alice.get(at(office, f"/jobs/{first.id}"))
        return len(queries)

    statements(1)  # what a process reads once
    assert statements(1) == statements(4)


def test_a_running_job_says_how_long_its_task_usually_runs(office, alice):
    (first,) = submitted(office, {"ref": "first"})
    claim = running(first)
    assert "usually" not in text_of(alice.get(at(office, f"/jobs/{first.id}")))
    claim.finish()
    run = fresh(first).execution
    ended = run.attempt_started_at + timedelta(seconds=75)
    Execution.objects.filter(pk=run.pk).update(finished_at=ended)
    (second,) = submitted(office, {"ref": "second"})
    running(second)
    assert "(usually 1:15)" in text_of(alice.get(at(office, f"/jobs/{second.id}")))


@pytest.mark.parametrize("verb", ["cancel", "reprioritise"])
def test_the_form_of_a_jobs_actions_has_one_reason_for_all_of_them(office, alice, verb):
    (job,) = submitted(office, {"ref": "waits"})
    page = alice.get(at(office, f"/jobs/{job.id}"))
    assert text_of(page).count('name="reason"') == 1
    action = at(office, f"/jobs/{job.id}/{verb}")
    assert f'formaction="{action}"' in text_of(page)
    # What a browser sends of the whole form, with either button.
    alice.post(action, {"reason": "not today", "priority": "3", "urgent": ""})
    assert "reason: not today" in text_of(alice.get(at(office, f"/jobs/{job.id}")))


def test_a_few_of_many_neighbours_are_drawn_and_the_others_listed(office, alice):
    parents = [{"ref": f"p{number}"} for number in range(9)]
    *_, last = submitted(
        office, *parents, {"ref": "last", "depends_on": [parent["ref"] for parent in parents]}, name="x"
    )
    page = alice.get(at(office, f"/jobs/{last.id}"))
    assert len(page.context["drawing"].boxes) == 7
    assert "3 more are in the lists below." in page.content.decode()
    assert len(page.context["parents"]) == 9


def test_a_programs_output_is_shown_from_its_end_without_control_characters(office, alice):
    (job,) = submitted(office, {"task_id": "command.run", "args": {"command": "echo"}}, name="x")
    printed = "x" * 30_000 + "\x1b[31mred\x1b[0m <b>\x07\nlast line\n"
    result = {"exit_code": 0, "output_tail": printed}
    running(job).finish(result=json.dumps(result))
    page = alice.get(at(office, f"/jobs/{job.id}"))
    output = page.context["output"]
    assert output.tail.endswith("xred <b>\nlast line\n")
    assert (output.cut, output.result) == (True, {"exit_code": 0})
    assert "red &lt;b&gt;\nlast line" in page.content.decode()
    assert len(page.content) < 40_000


def test_a_large_result_is_shown_in_part(office, alice):
    (job,) = submitted(office, {}, name="x")
    running(job).finish(result=json.dumps(["y" * 100_000]))
    page = alice.get(at(office, f"/jobs/{job.id}"))
    assert len(page.content) < 40_000
    assert "characters more" in page.content.decode()


def test_the_page_says_what_to_retry_first(office, alice):
    parent, child = submitted(
        office, {"ref": "build"}, {"depends_on": ["build"], "on_dependency_failure": "fail"}
    )
    running(parent).fail()
    page = alice.post(at(office, f"/jobs/{child.id}/retry"), follow=True).content.decode()
    assert "retry build first" in page


def test_a_job_is_cancelled_and_retried_on_its_page(office, alice):
    (job,) = submitted(office, {}, name="x")
    answer = alice.post(at(office, f"/jobs/{job.id}/cancel"), {"reason": "enough"}, follow=True)
    assert "1 job cancelled." in answer.content.decode()
    assert fresh(job).status == JobStatus.CANCELLED
    again = alice.post(at(office, f"/jobs/{job.id}/cancel"), follow=True)
    assert "Nothing was changed:" in again.content.decode()
    alice.post(at(office, f"/jobs/{job.id}/retry"))
    assert fresh(job).status == JobStatus.PROCESSING
    alice.post(at(office, f"/jobs/{job.id}/reprioritise"), {"priority": "3"})
    assert fresh(job).priority == 3
    assert alice.post(at(office, f"/jobs/{job.id}/explode")).status_code == 404
