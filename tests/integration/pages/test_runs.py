"""The page of all runs: filters in its address, actions, saved views, CSV, and what is new."""

import csv
import html
import io
import re

import pytest
from django.utils import timezone

from jobs.models import Event
from jobs.states import EventType, ExecutionStatus, JobStatus
from scheduler.models import SavedView
from scheduler.runs import bulk, csv_export, search
from tests.factories import a_job, a_member, a_run_by_hand, a_user, an_office, fresh, running, submitted
from tests.integration.pages.clients import page_text, sign_in, text_of
from tests.schedule_factories import a_schedule, executions, fire

pytestmark = pytest.mark.django_db


def names(page) -> list[str]:
    return [run.name or run.task_id for run in page.context["rows"]]


@pytest.fixture
def jobs(office):
    """A failed job, one that runs, and one that is queued."""
    bad, busy, waiting = submitted(
        office, {"ref": "bad", "max_retries": 0}, {"ref": "busy"}, {"ref": "waiting"}, name="Release 7"
    )
    running(bad).fail(error="The disk is full.", failure_type="permission_error")
    running(busy)
    return {"bad": bad, "busy": busy, "waiting": waiting}


def test_the_list_shows_jobs_and_other_runs_with_state_error_and_links(office, alice, jobs):
    run = a_run_by_hand(task_id="demo.flaky", args={"failures": 1})
    schedule = a_schedule(owner=a_user("alice"), name="every night", now=timezone.now())
    fire(schedule)
    page = alice.get("/runs")
    assert names(page)[1:] == ["demo.flaky", "waiting", "busy", "bad"]
    text = text_of(page)
    for expected in (
        f"/offices/{office.id}/jobs/{jobs['bad'].id}",
        f"/offices/{office.id}/batches/{jobs['bad'].batch_id}",
        f"/executions/{run.id}",
        f"/executions/{executions(schedule)[0].id}",
        f'href="/schedules/{schedule.id}"',
        "The disk is full.",
        "Permission denied",
        "every night",
        "Release 7",
        '<span class="soft">job</span>',
        '<span class="soft">schedule</span>',
    ):
        assert expected in text, expected
    assert names(sign_in("mallory").get("/runs")) == []


def test_filters_are_in_the_address_and_wrong_ones_are_explained(alice, jobs):
    assert names(alice.get("/runs?q=disk")) == ["bad"]
    assert names(alice.get("/runs?state=running&state=queued")) == ["waiting", "busy"]
    assert names(alice.get("/runs?failure=permission_error&range=1h")) == ["bad"]
    assert names(alice.get(f"/runs?batch={jobs['bad'].batch_id}&sort=oldest")) == ["bad", "busy", "waiting"]
    assert names(alice.get("/runs?range=custom&since=2001-01-01T00:00&until=2001-01-02T00:00")) == []
    for wrong in (
        "trigger=odd",
        "batch=nonsense",
        "state=odd",
        "sort=odd",
        "range=custom&since=2002-01-01T00:00&until=2001-01-01T00:00",
        "since=yesterday",
        f"q={'x' * 201}",
    ):
        page = alice.get(f"/runs?{wrong}")
        assert page.status_code == 200, wrong
        assert 'role="alert"' in text_of(page), wrong
        assert names(page) == [], wrong
    assert names(alice.get("/runs?after=nonsense&before=%00&newest=x&q=disk")) == ["bad"]
    named = alice.get(f"/runs?batch={jobs['bad'].batch_id}")
    assert "Release 7" in text_of(named)


def test_the_name_of_another_users_batch_is_not_shown(jobs):
    page = sign_in("mallory").get(f"/runs?batch={jobs['bad'].batch_id}")
    assert "Release 7" not in text_of(page)


def test_the_address_of_the_former_list_leads_here(alice):
    answer = alice.get("/executions?status=FAILED&trigger=MANUAL&task_id=demo.sum")
    assert answer["Location"] == "/runs?trigger=MANUAL&task=demo.sum&state=failed"


def test_the_count_stops_at_ten_thousand(alice, jobs):
    assert text_of(alice.get("/runs/count")) == "3 runs"
    assert text_of(alice.get("/runs/count?state=failed")) == "1 runs"
    assert text_of(alice.get("/runs/count?state=odd")) == "0 runs"
    newest = alice.get("/runs").context["newest"]
    a_run_by_hand()
    assert text_of(alice.get(f"/runs/count?newest={newest}")) == "3 runs"


# --- actions -----------------------------------------------------------------------------------------


def test_selected_jobs_and_other_runs_are_cancelled_after_a_preview(alice, jobs):
    run = a_run_by_hand()
    ids = [str(jobs["waiting"].id), str(run.id), str(jobs["bad"].id), "junk"]
    preview = alice.post("/runs/act", {"verb": "cancel", "run": ids})
    assert preview.context["preview"].changed == 2
    assert preview.context["preview"].skipped_by_state == {JobStatus.FAILED: 1}
    assert fresh(jobs["waiting"]).status != JobStatus.CANCELLED
    answer = alice.post("/runs/act", {"verb": "cancel", "run": ids, "sure": "yes", "reason": "no need"})
    assert answer["Location"] == "/runs"
    run.refresh_from_db()
    assert (fresh(jobs["waiting"]).status, run.status) == (JobStatus.CANCELLED, ExecutionStatus.CANCELLED)
    event = Event.objects.filter(type=EventType.JOB_CANCELLED).get()
    assert event.details["reason"] == "no need"


def test_all_matching_failures_are_retried_and_nothing_that_came_later(office, alice, jobs):
    form = {"verb": "retry", "scope": "matching", "state": "failed"}
    preview = alice.post("/runs/act", form)
    assert preview.context["preview"].changed == 1
    assert "State: failed" in text_of(preview)
    newest = str(preview.context["newest"])
    late = submitted(office, {"ref": "late", "max_retries": 0, "urgent": True}, name="x")[0]
    answer = alice.post("/runs/act", {**form, "newest": newest, "sure": "yes"})
    assert answer["Location"] == "/runs?state=failed"
    assert fresh(jobs["bad"]).status == JobStatus.READY
    assert fresh(late).status == JobStatus.READY


@pytest.fixture
def short_searches(monkeypatch):
    monkeypatch.setattr(search, "SEARCHED_FIRST", 2)
    monkeypatch.setattr(search, "SEARCHED", 3)
    # However busy the machine is.
    monkeypatch.setattr(search, "TIMEOUT_MS", 30_000)


@pytest.mark.usefixtures("short_searches")
def test_all_matching_runs_are_searched_however_many_others_there_are(office, alice):
    old = submitted(office, {"ref": "needle"}, {"ref": "needle too"}, name="x")
    submitted(office, *({"ref": f"hay {number}"} for number in range(9)), name="y")
    a_run_by_hand(task_id="demo.flaky", args={"failures": 1})
    page = alice.post("/runs/act", {"verb": "cancel", "scope": "matching", "q": "needle"})
    assert page.context["preview"].changed == 2
    assert page.context["searched_since"] is None
    form = {"verb": "cancel", "scope": "matching", "q": "needle", "newest": str(page.context["newest"])}
    alice.post("/runs/act", {**form, "sure": "yes"})
    assert [fresh(job).status for job in old] == [JobStatus.CANCELLED] * 2


@pytest.mark.usefixtures("short_searches")
@pytest.mark.parametrize(
    ("language", "text"), [("en", "Only what was submitted since"), ("ko", "이후에 제출된 것만 검색했습니다")]
)
def test_a_search_for_all_matching_runs_that_takes_too_long_says_how_far_it_came(
    office, jobs, monkeypatch, language, text
):
    monkeypatch.setattr(bulk, "SEARCH_SECONDS", 0.0)
    submitted(office, *({"ref": f"hay {number}"} for number in range(9)), name="y")
    client = sign_in("alice", language)
    page = client.post("/runs/act", {"verb": "cancel", "scope": "matching", "q": "waiting"})
    assert page.context["preview"].changed == 0
    assert text in text_of(page)
    whole = client.post("/runs/act", {"verb": "cancel", "scope": "matching", "q": "hay 8"})
    assert whole.context["preview"].changed == 1
    assert text in text_of(whole)


def test_more_than_a_hundred_matching_runs_need_their_number(office, alice):
    submitted(office, *({"ref": f"many {number}"} for number in range(101)), name="x")
    form = {"verb": "cancel", "scope": "matching", "q": "many"}
    page = alice.post("/runs/act", form)
    assert "Type 101 to confirm" in text_of(page)
    form |= {"newest": str(page.context["newest"]), "sure": "yes", "counted": "101"}
    assert alice.post("/runs/act", {**form, "typed": "7"}).status_code == 400
    assert not office.jobs.filter(status=JobStatus.CANCELLED).exists()
    alice.post("/runs/act", {**form, "typed": "101"})
    assert office.jobs.filter(status=JobStatus.CANCELLED).count() == 101


def test_only_members_who_may_act_cancel_runs(jobs, office):
    mine = a_run_by_hand()
    a_member(office, "vera")
    everything = {"verb": "cancel", "scope": "matching", "sure": "yes"}
    ids = {"verb": "cancel", "run": [str(jobs["waiting"].id), str(mine.id)], "sure": "yes"}
    for client in (sign_in("vera"), sign_in("mallory"), sign_in("steve", is_staff=True)):
        for form in (everything, ids):
            client.post("/runs/act", form)
    mine.refresh_from_db()
    assert mine.status == ExecutionStatus.PENDING
    assert fresh(jobs["waiting"]).status == JobStatus.READY


def test_an_action_needs_a_known_verb_and_a_right_filter(alice, jobs):
    assert alice.post("/runs/act", {"verb": "explode"}).status_code == 404
    alice.post("/runs/act", {"verb": "cancel", "scope": "matching", "trigger": "odd", "sure": "yes"})
    assert fresh(jobs["waiting"]).status == JobStatus.READY


# --- saved views ---------------------------------------------------------------------------------------


def test_a_view_is_saved_listed_replaced_and_deleted_by_its_owner(alice, jobs):
    alice.post("/runs/views", {"name": "broken", "state": "failed", "q": "disk"})
    view = SavedView.objects.get()
    assert (view.user.get_username(), view.query) == ("alice", "q=disk&state=failed")
    assert f'href="/runs?{view.query.replace("&", "&amp;")}"' in text_of(alice.get("/runs"))
    assert "broken" not in text_of(sign_in("bob").get("/runs"))
    alice.post("/runs/views", {"name": "broken", "state": "cancelled"})
    assert SavedView.objects.get().query == "state=cancelled"
    assert sign_in("bob").post(f"/runs/views/{view.id}/delete").status_code == 404
    assert SavedView.objects.exists()
    alice.post(f"/runs/views/{view.id}/delete")
    assert not SavedView.objects.exists()


def test_a_view_needs_a_name_and_their_number_is_limited(alice):
    for name in ("", "x" * 101):
        assert "Enter a name" in text_of(alice.post("/runs/views", {"name": name}, follow=True))
    user = a_user("alice")
    SavedView.objects.bulk_create(SavedView(user=user, name=f"view {number}") for number in range(50))
    assert "50 saved views" in text_of(alice.post("/runs/views", {"name": "one more"}, follow=True))
    assert SavedView.objects.count() == 50


# --- CSV -----------------------------------------------------------------------------------------------


def lines_of(answer) -> list[list[str]]:
    return list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode().removeprefix("\ufeff"))))


def test_the_matching_runs_are_lines_of_csv(alice, jobs):
    answer = alice.get("/runs.csv?state=failed")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert 'filename="runs.csv"' in answer["Content-Disposition"]
    head, line = lines_of(answer)
    values = dict(zip(head, line, strict=True))
    assert (values["name"], values["state"], values["error"]) == ("bad", "failed", "The disk is full.")
    assert values["batch"] == "Release 7"
    assert alice.get("/runs.csv?state=odd").status_code == 404


def test_a_cell_of_csv_is_never_a_formula(alice, monkeypatch):
    office = an_office(a_user("alice"))
    a_job(office, ref='=HYPERLINK("https://evil.example";"x")')
    for name in ("+1", "-1", "@x", "\t=1"):
        a_job(office, ref=name)
    texts = [line[1] for line in lines_of(alice.get("/runs.csv"))[1:]]
    assert len(texts) == 5
    assert all(text.startswith("'") for text in texts)
    monkeypatch.setattr(csv_export, "MOST", 2)
    assert len(lines_of(alice.get("/runs.csv"))) == 3


def test_the_fields_of_a_time_have_the_form_in_which_pages_show_times(alice):
    text = page_text(alice, "/runs?range=custom&since=2026-11-20T07:16")
    assert "datetime-local" not in text
    field = re.search(r'<input type="text" name="since"[^>]*>', text)
    assert field and 'value="2026-11-20 07:16"' in field[0] and "Year-month-day" in field[0]
    pattern = html.unescape(field[0].partition('pattern="')[2].partition('"')[0])
    for value in ("2026-11-20 07:16", "2026-11-20T07:16:05"):
        assert re.fullmatch(pattern, value), value
    assert not re.fullmatch(pattern, "11/20/2026 07:16")
    page = alice.get("/runs?range=custom&since=2001-01-01+00:00&until=2001-01-02+00:00")
    assert (page.status_code, page.context["rows"]) == (200, [])
