"""The overview: waiting, running, failed and late work, and whose work it shows."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.models import Execution, Job
from scheduler.models import WorkflowRun
from scheduler.states import RunStatus
from scheduler.steps import lifecycle as steps
from scheduler.workflows import runs
from tests.factories import a_user, an_office, fresh, running, submitted, unserve_roles
from tests.integration.pages.clients import at, sign_in
from tests.schedule_factories import a_schedule, a_workflow
from tests.step_factories import a_job as a_step
from tests.step_factories import a_queue
from tests.step_factories import claimed as claimed_step

RUN_TILE = re.compile(r'id="tile-runs-(\w+)">(\d+)<')

pytestmark = pytest.mark.django_db


def test_the_monitor_counts_the_users_work_and_shows_runs_and_failures(office, alice):
    first, second, third = submitted(
        office, {"ref": "broken", "max_retries": 0}, {"ref": "busy"}, {"ref": "in line"}, name="x"
    )
    running(first).fail()
    running(second, worker="w9@test")
    page = alice.get("/")
    assert page.context["tiles"] == {"waiting": 1, "running": 1, "done": 0, "failed": 1}
    text = page.content.decode()
    assert "broken" in text
    assert "w9@test" in text
    assert third.ref not in text


def test_the_monitor_shows_nothing_of_other_users(office, alice):
    of_bob = [{"ref": f"bob {number}", "max_retries": 0} for number in range(4)]
    broken, busy, stuck, _ = submitted(an_office(a_user("bob"), name="Bob's", max_concurrent_jobs=3), *of_bob)
    running(broken).fail(error="of bob")
    running(busy)
    late = fresh(stuck).execution
    assert late is not None
    late.dispatched_at = timezone.now() - timedelta(minutes=2)
    late.save(update_fields=["dispatched_at"])
    page = alice.get("/")
    assert "bob" not in page.content.decode().lower()
    assert page.context["tiles"] == {"waiting": 0, "running": 0, "done": 0, "failed": 0}
    text = sign_in("steve", is_staff=True).get("/").content.decode()
    assert all(ref in text for ref in ("bob 0", "bob 1", "bob 2"))


def test_waiting_jobs_are_counted_and_operations_of_queues_are_linked(office, alice):
    submitted(office, {"ref": "a"}, {"ref": "b", "depends_on": ["a"]}, {"ref": "c"}, name="x")
    queue = a_queue(a_step(), owner=a_user("alice"))
    steps.run(queue.queue_id)
    for client in (alice, sign_in("steve", is_staff=True)):
        page = client.get("/")
        assert (page.context["tiles"]["waiting"], page.context["tiles"]["running"]) == (4, 0)
    claimed_step(queue)
    page = alice.get("/")
    assert (page.context["tiles"]["waiting"], page.context["tiles"]["running"]) == (3, 1)
    assert f'href="/step-queues/{queue.queue_id}"' in page.content.decode()


def test_flower_is_linked_for_staff_alone_and_only_where_it_is_known(office, alice, settings):
    (job,) = submitted(office, {"ref": "a"}, name="x")
    running(job)
    settings.DURE_FLOWER_URL = "https://flower.example"
    link = f"https://flower.example/tasks?name=demo.sum%20args%3A{fresh(job).execution_id}"
    steve = sign_in("steve", is_staff=True)
    assert link in steve.get(at(office, f"/jobs/{job.id}")).content.decode()
    assert "https://flower.example/" in steve.get("/").content.decode()
    for path in ("/", at(office, f"/jobs/{job.id}")):
        assert "flower.example" not in alice.get(path).content.decode()
    settings.DURE_FLOWER_URL = ""
    assert "Flower" not in steve.get(at(office, f"/jobs/{job.id}")).content.decode()


def test_a_failure_that_was_run_again_comes_after_one_that_was_not(office, alice):
    old, new = submitted(office, {"ref": "old", "max_retries": 0}, {"ref": "new", "max_retries": 0}, name="x")
    running(old).fail()
    running(new).fail()
    alice.post(at(office, f"/jobs/{new.id}/retry"))
    rows = alice.get("/").context["failures"]
    assert [(row["run"].job.ref, row["handled"]) for row in rows] == [("old", False), ("new", True)]


def test_a_job_without_a_worker_is_delayed_and_the_monitor_shows_why(office, alice):
    unserve_roles("QA")
    sent, job = submitted(office, {"ref": "sent", "role": "FE"}, {"ref": "stuck", "role": "QA"}, name="x")
    assert alice.get("/").context["delayed"] == []
    before = timezone.now() - timedelta(minutes=2)
    Execution.objects.filter(job=sent).update(dispatched_at=before)
    Job.objects.filter(pk=job.pk).update(ready_at=before)
    text = alice.get("/").content.decode()
    assert "no worker was free to start it yet" in text
    assert "No online worker serves the role QA." in text
    assert "stuck" in text


def test_the_states_of_workflow_runs_are_counted_beside_those_of_jobs(office, alice):
    now = timezone.now()
    a_workflow(office, now=now)  # one is pending
    for ago in (timedelta(hours=1), timedelta(hours=25)):
        ended = runs.run_now(a_workflow(office, now=now, status="draft").id, user_id=None, now=now)
        WorkflowRun.objects.filter(pk=ended.pk).update(status=RunStatus.COMPLETED, ended_at=now - ago)
    for _ in range(3):
        failed = runs.run_now(a_workflow(office, now=now, status="draft").id, user_id=None, now=now)
        WorkflowRun.objects.filter(pk=failed.pk).update(status=RunStatus.FAILED, ended_at=now)
    for _ in range(2):
        runs.run_now(a_workflow(office, now=now, status="draft").id, user_id=None, now=now)
    counted = {"pending": 1, "running": 2, "completed": 1, "failed": 3}
    for path in ("/", "/monitor/live"):
        text = alice.get(path).content.decode()
        assert {name: int(number) for name, number in RUN_TILE.findall(text)} == counted
        assert "Succeeded (24 h)" in text
    others = sign_in("mallory").get("/").content.decode()
    assert {number for _, number in RUN_TILE.findall(others)} == {"0"}


def test_upcoming_runs_are_shown_with_their_rules(office, alice):
    now = timezone.now()
    a_schedule(now=now, owner=a_user("alice"), name="sums", kind="cron", cron="0 7 * * *")
    a_workflow(office, now=now)
    text = alice.get("/").content.decode()
    assert "at 07:00, every day" in text
    assert "every day at 09:00" in text
