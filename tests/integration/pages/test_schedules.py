"""The pages of schedules: access, content and actions."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.models import Execution
from jobs.states import ExecutionStatus, Trigger
from scheduler.models import Occurrence, Schedule
from scheduler.schedules.catchup import STILL_RUNNING
from scheduler.states import OccurrenceOutcome
from tests.factories import a_user
from tests.integration.pages.clients import form_fields, sign_in, text_of
from tests.integration.pages.schedule_pages import FORM, of_alice
from tests.schedule_factories import a_schedule, claim, end, executions, fire

pytestmark = pytest.mark.django_db


def pages_of(schedule: Schedule) -> list[str]:
    page = f"/schedules/{schedule.id}"
    return ["/schedules", "/schedules/new", page, f"{page}/live", f"{page}/edit", f"{page}/delete"]


def names(page) -> list[str]:
    return [row["schedule"].name for row in page.context["rows"]]


# --- whose they are --------------------------------------------------------------------------------


def test_a_schedule_of_another_user_is_not_listed():
    of_alice(name="secret work")
    assert "secret work" not in text_of(sign_in("mallory").get("/schedules"))


def test_staff_see_the_schedules_of_all_users_and_change_none():
    schedule = of_alice()
    url = f"/schedules/{schedule.id}"
    steve = sign_in("steve", is_staff=True)
    for path in ("/schedules", url, f"{url}/live"):
        page = steve.get(path)
        assert page.status_code == 200
        assert f"{url}/" not in text_of(page).replace(f"{url}/live", "")
    assert "alice" in text_of(steve.get("/schedules"))
    for verb in ("run", "pause", "resume", "delete", "edit", "preview"):
        assert steve.post(f"{url}/{verb}", FORM).status_code == 403, verb
    assert steve.get(f"{url}/edit").status_code == 403
    assert Schedule.objects.filter(pk=schedule.pk, enabled=True).exists()


# --- the list --------------------------------------------------------------------------------------


def test_the_filter_of_the_list_is_in_its_address(alice):
    of_alice(name="one")
    of_alice(name="two", task_id="demo.flaky", args={"failures": 1}, enabled=False)
    of_alice(name="three", kind="cron", cron="0 9 * * *")
    assert names(alice.get("/schedules")) == ["one", "three", "two"]
    assert names(alice.get("/schedules?state=paused")) == ["two"]
    assert names(alice.get("/schedules?state=enabled&kind=interval")) == ["one"]
    assert names(alice.get("/schedules?q=FLAKY")) == ["two"]
    assert names(alice.get("/schedules?q=thr")) == ["three"]
    wrong = alice.get("/schedules?kind=odd")
    assert names(wrong) == []
    assert 'role="alert"' in text_of(wrong)


def test_the_list_shows_the_rule_in_the_readers_language():
    of_alice(kind="cron", cron="0 9 * * MON-FRI")
    of_alice(kind="cron", cron="0 9 * * *", timezone="America/New_York")
    assert "at 09:00, Monday to Friday" in text_of(sign_in().get("/schedules"))
    korean = text_of(sign_in(language="ko").get("/schedules"))
    assert "매주 월요일부터 금요일까지 09:00" in korean
    assert "매일 09:00 (America/New_York)" in korean
    assert korean.count("America/New_York") == 1


def test_pages_follow_each_other_by_name_without_gap_or_overlap(alice):
    for number in range(120):
        of_alice(name=f"s{number % 40:02}")
    seen, address = [], "/schedules?kind=interval"
    while address:
        page = alice.get(address)
        seen += [row["schedule"].id for row in page.context["rows"]]
        address = "/schedules" + page.context["older"] if page.context["older"] else ""
    assert len(seen) == len(set(seen)) == 120
    back = alice.get("/schedules" + page.context["newer"])
    assert [row["schedule"].id for row in back.context["rows"]] == seen[50:100]
    assert "kind=interval" in page.context["newer"]


def test_an_invalid_or_foreign_cursor_shows_the_first_page(alice):
    of_alice(name="mine")
    other = a_schedule(owner=a_user("bob"), name="zzz")
    for place in ("x", str(other.id)):
        assert names(alice.get(f"/schedules?after={place}")) == ["mine"]


def test_recent_runs_have_signs_and_words(alice):
    schedule = of_alice()
    fire(schedule)
    end(executions(schedule)[0])
    schedule.refresh_from_db()
    fire(schedule, late=61)
    schedule.refresh_from_db()
    fire(schedule)
    text = text_of(alice.get("/schedules"))
    assert "the newest last: Succeeded, Missed, Pending, Skipped" in text
    Execution.objects.all().delete()
    assert "Run, record deleted, Missed" in text_of(alice.get("/schedules"))


# --- one -------------------------------------------------------------------------------------------


def test_a_schedule_shows_next_runs_policies_and_recent_runs(alice):
    schedule = of_alice(kind="cron", cron="0 9 * * *", timezone="America/New_York", overlap="allow")
    fire(schedule)
    (run,) = executions(schedule)
    claim(run, "w7@test").fail(error="it broke <b>")
    skipped = Occurrence.objects.create(
        schedule=schedule,
        due_at=timezone.now() - timedelta(days=3),
        outcome=OccurrenceOutcome.SKIPPED,
        reason=STILL_RUNNING,
        decided_at=timezone.now(),
    )
    page = alice.get(f"/schedules/{schedule.id}")
    text = text_of(page)
    assert [time.there[-8:] for time in page.context["next"]] == ["09:00:00"] * 5
    assert all(time.here for time in page.context["next"])
    assert "Run concurrently" in text
    assert f"/executions/{run.id}" in text
    assert "it broke &lt;b&gt;" in text
    assert "The previous run was still in progress." in text
    korean = sign_in(language="ko").get(f"/schedules/{schedule.id}")
    assert "이전 실행이 끝나지 않았습니다." in text_of(korean)
    assert korean.context["occurrences"][-1]["occurrence"] == skipped


def test_secrets_in_the_arguments_are_not_shown(alice):
    url = {"method": "GET", "url": "https://a.example", "headers": {"Authorization": "Bearer abc"}}
    schedule = of_alice(task_id="http.request", args=url)
    for path in pages_of(schedule):
        assert "Bearer abc" not in text_of(alice.get(path)), path


def test_an_ended_schedule_has_no_upcoming_runs(alice):
    schedule = of_alice(kind="once", at=timezone.now() + timedelta(hours=1))
    fire(schedule)
    text = text_of(alice.get(f"/schedules/{schedule.id}"))
    assert "No upcoming runs (schedule ended)." in text
    assert "Ended" in text_of(alice.get("/schedules"))


# --- what can be done ------------------------------------------------------------------------------


def test_a_manual_run_is_refused_while_one_is_in_progress(alice):
    schedule = of_alice()
    answer = alice.post(f"/schedules/{schedule.id}/run")
    run = Execution.objects.get()
    assert answer["Location"] == f"/executions/{run.id}"
    assert (run.trigger, run.source) == (Trigger.MANUAL, str(a_user("alice").pk))
    assert run.args == {"numbers": [1, 2]}
    again = alice.post(f"/schedules/{schedule.id}/run", follow=True)
    assert Execution.objects.count() == 1
    assert "is already running." in text_of(again)
    assert f"/executions/{run.id}" in text_of(again)


def test_the_pause_and_resume_buttons_return_to_the_page(alice):
    schedule = of_alice(name="<nightly>")
    path = f"/schedules/{schedule.id}/pause"
    paused = alice.post(path, form_fields(alice.get("/schedules?q=n"), path), follow=True)
    assert paused.redirect_chain == [("/schedules?q=n", 302)]
    assert "Schedule paused." in text_of(paused)
    assert Schedule.objects.get().next_run_at is None
    resumed = alice.post(f"/schedules/{schedule.id}/resume", {"back": "https://evil.example/"})
    assert resumed["Location"] == f"/schedules/{schedule.id}"
    assert Schedule.objects.get().next_run_at is not None


def test_a_schedule_is_deleted_after_confirmation(alice):
    schedule = of_alice()
    fire(schedule)
    path = f"/schedules/{schedule.id}/delete"
    assert f'href="{path}"' in text_of(alice.get(f"/schedules/{schedule.id}"))
    assert "Its runs stay visible" in text_of(alice.get(path))
    assert Schedule.objects.exists()
    assert alice.post(path)["Location"] == "/schedules"
    assert not Schedule.objects.exists()
    run = Execution.objects.get()
    assert run.status == ExecutionStatus.PENDING
    for page in (f"/runs?schedule={schedule.id}", f"/executions/{run.id}"):
        assert f"{schedule.name} (deleted)" in text_of(alice.get(page))
