"""The overview: waiting, running, failed and late work, and whose work it shows."""

import re
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.models import Execution, Job, Worker
from jobs.states import ExecutionStatus
from scheduler import access, beats
from scheduler.models import Minute, WorkflowRun
from scheduler.states import RunStatus
from scheduler.steps import lifecycle as steps
from scheduler.steps import queues
from scheduler.workflows import runs
from tests.factories import (
    a_run_by_hand,
    a_start,
    a_user,
    an_office,
    done,
    fresh,
    running,
    submitted,
    unserve_roles,
)
from tests.integration.pages.clients import at, sign_in, text_of
from tests.schedule_factories import a_schedule, a_workflow, claim
from tests.step_factories import a_job as a_step
from tests.step_factories import a_queue, completed
from tests.step_factories import claimed as claimed_step

# Of one view of the overview, with the session and the user.
MOST_STATEMENTS = 28
RUN_TILE = re.compile(r'id="tile-runs-(\w+)">(\d+)<')

pytestmark = pytest.mark.django_db


def tile_links(text: str, prefix: str) -> dict[str, str]:
    """Where each tile leads."""
    links = re.findall(rf'<a href="([^"]*)"><b id="{prefix}([a-z]+)"', text)
    return {name: address.replace("&amp;", "&") for address, name in links}


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


def test_runs_that_take_longer_than_usual_are_marked(office, alice):
    office.max_concurrent_jobs, office.max_concurrent_by_role = 10, {}
    office.save()
    ended, *jobs = submitted(office, {}, {}, {}, {}, name="x")
    done(ended)
    slow, quick, unknown = (running(job).claim.execution_id for job in jobs)
    now = timezone.now()

    def took(run, *, began, ended=None):
        Execution.objects.filter(pk=run).update(attempt_started_at=began, finished_at=ended)

    took(fresh(ended).execution_id, began=now - timedelta(minutes=3), ended=now - timedelta(minutes=2))
    took(slow, began=now - timedelta(minutes=3))
    took(quick, began=now - timedelta(minutes=1))
    took(unknown, began=now - timedelta(hours=1))
    Execution.objects.filter(pk=unknown).update(task_id="demo.flaky")
    page = alice.get("/")
    assert page.context["slow"] == {UUID(slow): 60.0}
    assert text_of(page).count("(usually 1:00)") == 1


def test_each_tile_leads_to_what_it_counts(office, alice):
    old, failed, good, *_ = submitted(office, *({"max_retries": 0} for _ in range(5)), name="x")
    for job in (old, failed):
        running(job).fail()
    done(good)
    # Created long ago, ended just now.
    Execution.objects.filter(job=failed).update(created_at=timezone.now() - timedelta(days=3))
    Job.objects.filter(pk=failed.pk).update(created_at=timezone.now() - timedelta(days=3))
    Job.objects.filter(pk=old.pk).update(completed_at=timezone.now() - timedelta(hours=25))
    claim(a_run_by_hand()).finish()
    a_run_by_hand()
    page = alice.get("/")
    assert page.context["tiles"] == {"waiting": 3, "running": 0, "done": 2, "failed": 1}
    for name, address in tile_links(text_of(page), "tile-").items():
        if name != "delayed":
            assert len(alice.get(address).context["rows"]) == page.context["tiles"][name], address


def test_a_filter_of_workflow_runs_that_makes_no_sense_lists_none(office, alice):
    started = runs.run_now(a_workflow(office, now=timezone.now()).id, user_id=None, now=timezone.now())
    (row,) = alice.get("/workflows/runs?status=running").context["rows"]
    assert row["run"].pk == started.pk
    for query in ("status=odd", "ended=%00", "status=running&ended=9y"):
        page = alice.get(f"/workflows/runs?{query}")
        assert (page.status_code, page.context["rows"]) == (200, []), query
        assert b'role="alert"' in page.content
    assert sign_in("mallory").get("/workflows/runs").context["rows"] == []
    assert len(alice.get(alice.get("/workflows/runs").context["live_at"]).context["rows"]) == 2


def test_the_monitor_says_that_no_beat_is_running(alice):
    assert 'id="no-beat"' in alice.get("/monitor/live").content.decode()
    beats.mark_seen("beat@here:1")
    assert 'id="no-beat"' not in alice.get("/monitor/live").content.decode()


def test_upcoming_schedules_and_workflow_runs_are_in_one_order(office, alice):
    now = timezone.now()
    config = {"mode": "delayed", "delay_seconds": 100}
    a_workflow(office, now=now, name="second", schedule_config=config)
    for name, seconds in (("third", 200), ("first", 50)):
        a_schedule(now=now, owner=a_user("alice"), name=name, every_seconds=seconds)
    rows = alice.get("/").context["next"]
    names = [row["schedule"].name if "schedule" in row else row["run"].workflow_data["name"] for row in rows]
    assert names == ["first", "second", "third"]


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


def test_a_failure_of_a_deleted_step_queue_leads_staff_to_its_run(alice):
    deleted = completed(a_queue(a_step(forward="fail"), owner=a_user("alice")))
    kept = completed(a_queue(a_step(forward="fail"), owner=a_user("alice")))
    queues.delete(deleted.queue_id)
    run = Execution.objects.get(source__startswith=f"{deleted.queue_id}:", status=ExecutionStatus.FAILED)
    Execution.objects.filter(pk=run.pk).update(error="another cause")
    steve = sign_in("steve", is_staff=True)
    for path in ("/", "/runs"):
        text = text_of(steve.get(path))
        assert f'href="/executions/{run.id}"' in text, path
        assert f'href="/step-queues/{deleted.queue_id}"' not in text, path
        assert f'href="/step-queues/{kept.queue_id}"' in text, path
        assert str(run.id) not in text_of(alice.get(path)), path
    assert f"#{deleted.queue_id} (deleted)" in text_of(steve.get(f"/executions/{run.id}"))


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


def test_failures_of_one_cause_are_one_line_with_count_times_and_a_link(office, alice):
    first, second, other = submitted(
        office, *({"ref": ref, "max_retries": 0} for ref in ("first", "second", "other")), name="x"
    )
    running(first).fail(error="Cannot write 17 bytes to 'a.txt'")
    running(second).fail(error="Cannot write 9 bytes to 'b.txt'")
    running(other).fail(error="Out of memory")
    page = alice.get("/")
    groups = {entry.text: entry for entry in page.context["failures"]}
    assert {text: entry.count for text, entry in groups.items()} == {
        "Cannot write … bytes to …": 2,
        "Out of memory": 1,
    }
    write = groups["Cannot write … bytes to …"]
    assert write.last.job.ref == "second"
    assert write.first_at < write.last.finished_at
    address = "/runs?state=failed&ended=24h&failure=error&q=Cannot%20write"
    assert address.replace("&", "&amp;") in text_of(page)
    assert [run.name for run in alice.get(address).context["rows"]] == ["second", "first"]


def test_a_failure_that_was_run_again_comes_after_one_that_was_not(office, alice):
    old, new = submitted(office, {"ref": "old", "max_retries": 0}, {"ref": "new", "max_retries": 0}, name="x")
    running(old).fail(error="old")
    running(new).fail(error="new")
    alice.post(at(office, f"/jobs/{new.id}/retry"))
    groups = alice.get("/").context["failures"]
    assert [(entry.text, entry.unhandled) for entry in groups] == [("old", 1), ("new", 0)]


def test_workers_and_queues_are_shown_to_staff_alone(office, alice):
    now = timezone.now()
    Worker.objects.create(name="w7@far", roles=["BE"], slots=1, started_at=now, seen_at=now)
    assert "w7@far" not in text_of(alice.get("/"))
    assert "w7@far" in text_of(sign_in("steve", is_staff=True).get("/"))


def test_the_trends_are_of_the_users_offices_and_for_staff_of_the_installation(office, alice):
    (mine,) = submitted(office, {"max_retries": 0}, name="x")
    running(mine).fail()
    done(submitted(an_office(a_user("bob")), {})[0])
    minute = timezone.now().replace(second=0, microsecond=0) - timedelta(minutes=5)
    values = {"done": 7, "failed": 2, "wait_p50_ms": 5, "wait_ms": 9, "run_p50_ms": 4, "run_ms": 8}
    Minute.objects.create(minute=minute, queued=11, **values)
    steve = sign_in("steve", is_staff=True)
    for span, count in (("1h", 60), ("24h", 96), ("7d", 84), ("odd", 60)):
        page = alice.get(f"/monitor/charts?range={span}")
        assert (page.context["done"], page.context["failed"]) == (0, 1), span
        assert len(page.context["steps"]) == count
        page = steve.get(f"/monitor/charts?range={span}")
        assert (page.context["done"], page.context["failed"]) == (7, 2), span
        assert [chart.highest for chart in page.context["charts"]] == ["0.0s", "0.0s", "11"]
    (bar,) = [bar for bar in alice.get("/monitor/charts").context["bars"] if bar.failed_height]
    assert len(alice.get(bar.address).context["rows"]) == 1
    nobody = sign_in("mallory").get("/monitor/charts")
    assert (nobody.context["done"], nobody.context["charts"]) == (0, [])


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


def test_a_job_of_a_role_with_the_limit_0_is_late_and_leads_to_the_limits(office, alice):
    office.max_concurrent_by_role = {"FE": 1, "QA": 0}
    office.save()
    stuck, _full, waits = submitted(
        office, {"ref": "stuck", "role": "QA"}, {"role": "FE"}, {"ref": "waits", "role": "FE"}, name="x"
    )
    assert alice.get("/").context["delayed"] == []
    Job.objects.filter(pk__in=[stuck.pk, waits.pk]).update(ready_at=timezone.now() - timedelta(minutes=2))
    answer = alice.get("/")
    assert [late.job for late in answer.context["delayed"]] == [stuck]
    assert "The office allows no jobs of the role QA: its limit is 0." in text_of(answer)
    page = text_of(alice.get(f"/offices/{office.id}/jobs/{stuck.id}"))
    assert "The office allows no jobs of the role QA: its limit is 0." in page
    assert f'href="/offices/{office.id}">Limits of the office' in page
    korean = text_of(sign_in("alice", "ko").get(f"/offices/{office.id}/jobs/{stuck.id}"))
    assert "한도가 0" in korean


def test_a_worker_that_is_gone_is_marked_and_its_job_says_how_to_start_one(office, alice):
    now = timezone.now()
    for name, age in (("here@one", 1), ("gone@two", 120)):
        seen = now - timedelta(seconds=age)
        Worker.objects.create(name=name, roles=["QA"], started_at=seen, seen_at=seen)
    unserve_roles("QA")
    stuck = submitted(office, {"role": "QA"}, name="x")[0]
    rows = text_of(sign_in("root", is_staff=True).get("/")).split("<tr>")
    offline = {name for row in rows for name in ("here@one", "gone@two") if name in row and "Offline" in row}
    assert offline == {"gone@two"}
    assert "celery -A config worker -Q QA" in text_of(alice.get(f"/offices/{office.id}/jobs/{stuck.id}"))


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
        for name, address in tile_links(text, "tile-runs-").items():
            assert len(alice.get(address).context["rows"]) == counted[name], address
    others = sign_in("mallory").get("/").content.decode()
    assert {number for _, number in RUN_TILE.findall(others)} == {"0"}


def test_upcoming_runs_are_shown_with_their_rules(office, alice):
    now = timezone.now()
    a_schedule(now=now, owner=a_user("alice"), name="sums", kind="cron", cron="0 7 * * *")
    a_workflow(office, now=now)
    text = alice.get("/").content.decode()
    assert "at 07:00, every day" in text
    assert "every day at 09:00" in text


def test_the_overview_of_a_user_with_very_many_schedules_shows_their_runs(office, alice, monkeypatch):
    schedules = [a_schedule(owner=a_user("alice"), now=timezone.now()) for _ in range(2)]
    for schedule in schedules:
        claim(Execution.objects.get(pk=a_start(trigger="SCHEDULE", source=str(schedule.pk))))
    few = alice.get("/").context
    monkeypatch.setattr(access, "MANY_SCHEDULES", 1)
    many = alice.get("/").context
    assert {run.source for run in many["running"]} == {str(schedule.pk) for schedule in schedules}
    assert many["running"] == few["running"]
    assert many["tiles"] == few["tiles"]


def test_the_number_of_statements_does_not_depend_on_how_much_there_is(office, alice):
    now, user = timezone.now(), a_user("alice")
    steve = sign_in("steve", is_staff=True)

    def add_one_of_each(name):
        own = an_office(user, name=name, max_concurrent_jobs=5)
        broken, busy, _ = submitted(own, *({"max_retries": 0} for _ in range(3)), name="x")
        running(broken).fail(error=f"{name} failed")
        running(busy)
        a_schedule(now=now, owner=user, name=name)
        a_workflow(own, now=now)
        queue = a_queue(a_step(), owner=user)
        steps.run(queue.queue_id)
        claimed_step(queue)

    def statements(client):
        client.get("/")  # what a process reads once
        with CaptureQueriesContext(connection) as queries:
            client.get("/")
        return len(queries)

    add_one_of_each("first")
    few = statements(alice), statements(steve)
    for name in ("second", "third", "fourth"):
        add_one_of_each(name)
    assert (statements(alice), statements(steve)) == few
    assert max(few) <= MOST_STATEMENTS, few
