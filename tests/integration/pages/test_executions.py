"""The pages of Executions: access, the detail page, cancelling, and the cost of the list."""

from itertools import pairwise

import pytest
from django.utils import timezone

from jobs.models import Execution, Membership
from jobs.sql import call
from jobs.states import ExecutionStatus, MemberRole, Trigger
from scheduler import access
from scheduler.access import executions_by_cause, executions_of
from scheduler.steps.states import Direction
from tests.factories import a_job, a_member, a_run_by_hand, a_start, a_user, an_office, submitted
from tests.integration.pages.clients import sign_in, text_of
from tests.integration.rest_support import client_of
from tests.integration.test_engine_plans import FILL, most_read
from tests.schedule_factories import a_schedule, claim, executions, fire
from tests.step_factories import a_job as a_step
from tests.step_factories import a_queue

pytestmark = pytest.mark.django_db
RUNS_OF_OTHERS = 20_000


def of_step(queue, way: str = Direction.FORWARD) -> Execution:
    source = f"{queue.queue_id}:{queue.steps.first().job_id}:{way}"
    return Execution.objects.get(pk=a_start(trigger=Trigger.STEP, source=source))


# --- whose they are --------------------------------------------------------------------------------


def something_of_each_kind(name: str) -> dict[str, Execution]:
    owner = a_user(name)
    schedule = a_schedule(owner=owner, now=timezone.now())
    fire(schedule)
    job = a_job(an_office(owner, name=f"office of {name}"))
    shared = an_office(a_user("carol"), name=f"shared with {name}")
    Membership.objects.create(office=shared, user=owner, role=MemberRole.VIEWER)
    assert job.execution is not None
    return {
        "schedule": executions(schedule)[0],
        "manual": a_run_by_hand(name),
        "job": job.execution,
        "step": of_step(a_queue(a_step(), owner=owner)),
        "step of an office": of_step(a_queue(a_step(), owner=a_user("carol"), office=shared)),
    }


def test_the_page_of_an_execution_has_the_access_rules_of_the_list(alice):
    runs = something_of_each_kind("alice").values()
    mallory, steve = sign_in("mallory"), sign_in("steve", is_staff=True)
    for run in runs:
        expected = 302 if run.job_id else 200
        for path, status in (("", expected), ("/live", 200)):
            assert alice.get(f"/executions/{run.id}{path}").status_code == status
            assert steve.get(f"/executions/{run.id}{path}").status_code == status
            assert mallory.get(f"/executions/{run.id}{path}").status_code == 404
        assert mallory.post(f"/executions/{run.id}/cancel").status_code == 404
        assert steve.post(f"/executions/{run.id}/cancel").status_code == (404 if run.job_id else 403)
    assert not Execution.objects.filter(status=ExecutionStatus.CANCELLED).exists()


def test_the_parts_of_a_list_are_together_what_may_be_seen(alice, monkeypatch):
    something_of_each_kind("alice")
    something_of_each_kind("bob")
    user = a_user("alice")
    for few in (1_000, 0):
        monkeypatch.setattr(access, "FEW_JOBS", few)
        monkeypatch.setattr(access, "FEW_STEPS", few)
        parts = [set(part.values_list("id", flat=True)) for part in executions_by_cause(user)]
        assert set().union(*parts) == set(executions_of(user).values_list("id", flat=True))
        assert sum(map(len, parts)) == 5


def test_a_viewer_of_an_office_cannot_cancel_what_its_queue_runs(alice):
    office = an_office(a_user("carol"))
    a_member(office, "alice")
    run = of_step(a_queue(a_step(), owner=a_user("carol"), office=office))
    assert "/cancel" not in text_of(alice.get(f"/executions/{run.id}"))
    assert alice.post(f"/executions/{run.id}/cancel").status_code == 403
    assert client_of(a_user("alice")).post(f"/api/executions/{run.id}/cancel").status_code == 403
    staff = a_user("steve", is_staff=True)
    assert client_of(staff).post(f"/api/executions/{run.id}/cancel").status_code == 403
    Membership.objects.filter(user=a_user("alice")).update(role=MemberRole.OPERATOR)
    assert "/cancel" in text_of(alice.get(f"/executions/{run.id}"))
    alice.post(f"/executions/{run.id}/cancel")
    run.refresh_from_db()
    assert run.status == ExecutionStatus.CANCELLED


# --- one -------------------------------------------------------------------------------------------


def test_the_page_shows_attempts_arguments_and_result(alice):
    headers = {"Authorization": "Bearer abc"}
    args = {"method": "GET", "url": "https://a.example", "headers": headers}
    run = a_run_by_hand(task_id="http.request", args=args)
    claim(run, "w7@test").fail(error="it broke <b>", traceback="File <x>", delay_ms=60_000)
    text = text_of(alice.get(f"/executions/{run.id}"))
    texts = ("w7@test", "it broke &lt;b&gt;", "File &lt;x&gt;", "https://a.example", "manual", "1 of 3")
    for expected in ("alice", *texts):
        assert expected in text, expected
    assert "Bearer abc" not in text
    assert "Next attempt" in text
    Execution.objects.filter(pk=run.pk).update(dispatched_at=timezone.now(), due_at=None)
    claim(run).finish(result='{"answer": 42}')
    assert "&quot;answer&quot;: 42" in text_of(alice.get(f"/executions/{run.id}/live"))


def test_the_trigger_of_an_execution_is_linked(alice):
    runs = something_of_each_kind("alice")
    schedule = runs["schedule"].source
    assert f'href="/schedules/{schedule}"' in text_of(alice.get(f"/executions/{runs['schedule'].id}"))
    queue = runs["step"].source.partition(":")[0]
    assert f'href="/step-queues/{queue}"' in text_of(alice.get(f"/executions/{runs['step'].id}"))
    job = runs["job"]
    assert alice.get(f"/executions/{job.id}")["Location"] == f"/offices/{job.office_id}/jobs/{job.job_id}"


def test_an_execution_is_cancelled_once(alice):
    run = a_run_by_hand()
    answer = alice.post(f"/executions/{run.id}/cancel", follow=True)
    assert "Run cancelled." in text_of(answer)
    assert "Failure reason" not in text_of(answer)
    run.refresh_from_db()
    assert run.status == ExecutionStatus.CANCELLED
    assert "has already ended" in text_of(alice.post(f"/executions/{run.id}/cancel", follow=True))
    busy = a_run_by_hand()
    claim(busy)
    assert "Cancellation requested." in text_of(alice.post(f"/executions/{busy.id}/cancel", follow=True))


# --- the list --------------------------------------------------------------------------------------


def test_the_api_pages_through_the_parts_as_one_list():
    office = an_office(a_user("alice"), max_concurrent_jobs=100)
    for _ in range(7):
        a_run_by_hand()
        submitted(office, {})
    client = client_of(a_user("alice"))
    answers = [client.get(f"/api/executions?page_size=5&page={page}").json() for page in (1, 2, 3)]
    assert {answer["count"] for answer in answers} == {14}
    ids = [row["execution_id"] for answer in answers for row in answer["results"]]
    assert len(ids) == 14
    assert all(row > other for row, other in pairwise(ids))
    assert client.get("/api/executions?page_size=5&page=4").status_code == 404


def test_a_page_reads_few_rows_of_other_users(alice):
    past = an_office(a_user("bob"))
    for statement in FILL[:3]:
        call.change(statement, {"office": past.id, "count": RUNS_OF_OTHERS})
    mine = [something.id for something in something_of_each_kind("alice").values()]
    for table in ("job_queue", "job_executions", "schedules", "steps"):
        call.change(f"ANALYZE {table}")
    alice.get("/runs")  # planning reads the ends of indexes once
    for list_of_alice in (
        lambda: alice.get("/runs"),
        lambda: client_of(a_user("alice")).get("/api/executions"),
        lambda: alice.get("/runs?state=running"),
    ):
        assert most_read(list_of_alice) < (RUNS_OF_OTHERS // 10, "")
    runs = {row.execution.id for row in alice.get("/runs").context["rows"]}
    assert runs == set(mine)
