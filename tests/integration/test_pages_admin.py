"""The admin looks, and acts by the verbs only."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.models import (
    ApiToken,
    Batch,
    Event,
    Execution,
    Job,
    Membership,
    Notice,
    Office,
    Webhook,
    Worker,
)
from jobs.states import EventType, ExecutionStatus, JobStatus
from tests.factories import a_start, a_user, an_office, claimed, fresh, submitted

pytestmark = pytest.mark.django_db

MODELS = (ApiToken, Batch, Event, Execution, Job, Membership, Notice, Office, Webhook, Worker)


@pytest.fixture
def root() -> Client:
    client = Client(headers={"Accept-Language": "en"})
    client.force_login(a_user("root", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def jobs():
    return submitted(an_office(a_user("alice"), max_concurrent_jobs=1), {"ref": "a"}, {"ref": "b"}, name="x")


def address(model, page: str = "changelist", *of: object) -> str:
    tail = "" if page == "changelist" else f"{of[0]}/change/"
    return f"/admin/jobs/{model._meta.model_name}/{tail}"


@pytest.mark.parametrize("model", MODELS)
def test_everything_is_listed_and_nothing_can_be_edited(root, jobs, model):
    ApiToken.issue(a_user("alice"), "t", timezone.now())
    assert root.get(address(model)).status_code == 200
    assert root.get(address(model) + "add/").status_code == 403
    row = model.objects.first()
    if row is not None:
        page = root.get(address(model, "change", row.pk))
        assert page.status_code == 200
        assert b'name="_save"' not in page.content
        assert root.post(address(model, "change", row.pk), {}).status_code == 403
        assert root.post(f"{address(model)}{row.pk}/delete/", {"post": "yes"}).status_code == 403


def test_no_list_counts_a_whole_table(root, jobs):
    for model in MODELS:
        with CaptureQueriesContext(
            connection,
        ) as asked:
            root.get(address(model))
        counts = [query["sql"] for query in asked if "COUNT(*)" in query["sql"]]
        assert counts
        assert all("LIMIT 10001" in sql for sql in counts), counts


def test_an_id_finds_the_row_and_its_relations(root, jobs):
    first, second = jobs
    assert root.get(address(Job) + f"?q={first.id}").context["cl"].result_count == 1
    assert root.get(address(Job) + f"?q={second.batch_id}").context["cl"].result_count == 2
    assert root.get(address(Execution) + f"?q={first.id}").context["cl"].result_count == 1
    assert root.get(address(Event) + "?q=1").status_code == 200
    assert root.get(address(Job) + "?q=nonsense").context["cl"].result_count == 0


def test_a_secret_is_on_no_page(root, jobs):
    hook = Webhook.objects.create(office=jobs[0].office, url="https://a.example", secret="whsec_hush")
    token, plain = ApiToken.issue(a_user("alice"), "t", timezone.now())
    assert b"whsec_hush" not in root.get(address(Webhook, "change", hook.pk)).content
    page = root.get(address(ApiToken, "change", token.pk)).content.decode()
    assert token.digest not in page
    assert plain not in page


def act(client: Client, model, action: str, *rows, **more):
    form = {"action": action, "_selected_action": [str(row.pk) for row in rows], "index": "0", **more}
    return client.post(address(model), form, follow=True)


def test_an_action_asks_first_and_then_leaves_its_actor_and_reason(root, jobs):
    page = act(root, Job, "cancel", *jobs)
    assert page.context["preview"].changed == 2
    assert not Job.objects.filter(status=JobStatus.CANCELLED).exists()
    answer = act(root, Job, "cancel", *jobs, sure="yes", reason="wrong release")
    assert "2 jobs were changed." in answer.content.decode()
    # Nobody has claimed the run that was sent, so both end at once.
    assert {fresh(job).status for job in jobs} == {JobStatus.CANCELLED}
    event = Event.objects.filter(type=EventType.JOB_CANCELLED).last()
    assert event is not None
    assert (event.details["actor"], event.details["reason"]) == ("root", "wrong release")
    act(root, Job, "retry", jobs[0], sure="yes")
    assert fresh(jobs[0]).status == JobStatus.PROCESSING


def test_all_that_match_are_changed_in_every_office(root, jobs):
    others = submitted(an_office(name="other"), {}, {})
    answer = act(root, Job, "reprioritise", jobs[0], select_across="1", sure="yes", priority="9")
    assert "4 jobs were changed." in answer.content.decode()
    assert {fresh(job).priority for job in (*jobs, *others)} == {9}


def test_a_change_that_says_nothing_is_asked_again(root, jobs):
    page = act(root, Job, "reprioritise", *jobs, sure="yes")
    assert "Say what is to change." in page.content.decode()


def test_a_run_is_cancelled_with_its_job_or_alone(root, jobs):
    run = claimed(jobs[0])
    assert run is not None
    alone = Execution.objects.get(pk=a_start())
    answer = act(root, Execution, "cancel", Execution.objects.get(pk=run.execution), alone)
    assert "2 runs cancelled." in answer.content.decode()
    assert fresh(jobs[0]).cancelled_at is not None
    alone.refresh_from_db()
    assert alone.status == ExecutionStatus.CANCELLED


def test_staff_that_may_only_look_have_no_actions(jobs):
    clerk = a_user("clerk", is_staff=True)
    clerk.user_permissions.add(Permission.objects.get(codename="view_job"))
    client = Client()
    client.force_login(clerk)
    assert client.get(address(Job)).status_code == 200
    act(client, Job, "cancel", *jobs, sure="yes")
    assert not Job.objects.filter(status=JobStatus.CANCELLED).exists()


def test_a_token_is_revoked(root):
    token, _ = ApiToken.issue(a_user("alice"), "t", timezone.now())
    act(root, ApiToken, "revoke", token)
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_all_tables_that_operators_ask_for_are_there():
    assert all(admin.site.is_registered(model) for model in MODELS)
