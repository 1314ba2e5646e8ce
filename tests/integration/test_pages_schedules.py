"""The pages of schedules: whose they are, what they show, how one is made, changed and acted on."""

import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from jobs.models import Execution
from jobs.states import ExecutionStatus, Trigger
from scheduler.models import Occurrence, Schedule
from scheduler.states import Turn
from tests.factories import a_user
from tests.schedule_factories import a_schedule, claim, end, executions, fire

pytestmark = pytest.mark.django_db

FORM = {
    "name": "nightly",
    "task_id": "demo.sum",
    "args": '{"numbers": [1, 2]}',
    "kind": "cron",
    "cron": "0 9 * * MON-FRI",
    "every": "",
    "unit": "minutes",
    "at": "",
    "timezone": "Asia/Seoul",
    "starts_at": "",
    "ends_at": "",
    "overlap": "skip",
    "catch_up": "latest",
    "max_retries": "3",
    "enabled": "on",
}


def reader(name: str = "alice", language: str = "en", **more) -> Client:
    client = Client(headers={"Accept-Language": language})
    client.force_login(a_user(name, **more))
    return client


@pytest.fixture
def alice():
    return reader()


def of_alice(**fields) -> Schedule:
    return a_schedule(now=timezone.now(), owner=a_user("alice"), **fields)


def text_of(answer) -> str:
    return str(answer.content.decode())


def why(answer, field: str) -> str:
    """What stands beside a field."""
    found = re.search(rf'<p [^>]*id="why-{field}"[^>]*>(.*?)</p>', text_of(answer), re.DOTALL)
    assert found is not None, field
    return found[1].strip().replace("&#x27;", "'").replace("&quot;", '"')


def pages_of(schedule: Schedule) -> list[str]:
    one = f"/schedules/{schedule.id}"
    return ["/schedules", "/schedules/new", one, f"{one}/live", f"{one}/edit", f"{one}/delete"]


def names(page) -> list[str]:
    return [row["schedule"].name for row in page.context["rows"]]


# --- whose they are --------------------------------------------------------------------------------


def test_who_is_not_signed_in_is_asked_to():
    for path in pages_of(of_alice()):
        answer = Client().get(path)
        assert answer.status_code == 302, path
        assert answer["Location"].startswith("/login?next=/"), path


def test_somebody_elses_schedule_does_not_exist():
    schedule = of_alice(name="secret work")
    one = f"/schedules/{schedule.id}"
    mallory = reader("mallory")
    assert {mallory.get(path).status_code for path in pages_of(schedule) if str(schedule.id) in path} == {404}
    assert "secret work" not in text_of(mallory.get("/schedules"))
    for verb in ("run", "pause", "resume", "delete", "edit", "preview"):
        assert mallory.post(f"{one}/{verb}", FORM).status_code == 404, verb
    schedule.refresh_from_db()
    assert (schedule.enabled, schedule.name) == (True, "secret work")
    assert not Execution.objects.exists()


def test_staff_look_at_everybodys_and_change_none():
    schedule = of_alice()
    one = f"/schedules/{schedule.id}"
    steve = reader("steve", is_staff=True)
    for path in ("/schedules", one, f"{one}/live"):
        page = steve.get(path)
        assert page.status_code == 200
        assert f"{one}/" not in text_of(page).replace(f"{one}/live", "")
    assert "alice" in text_of(steve.get("/schedules"))
    for verb in ("run", "pause", "resume", "delete", "edit", "preview"):
        assert steve.post(f"{one}/{verb}", FORM).status_code == 403, verb
    assert steve.get(f"{one}/edit").status_code == 403
    assert Schedule.objects.filter(pk=schedule.pk, enabled=True).exists()


def test_an_action_needs_a_post_with_its_csrf_token():
    schedule = of_alice()
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(a_user("alice"))
    assert strict.get(f"/schedules/{schedule.id}/pause").status_code == 405
    for path in ("pause", "run", "delete", "edit", "preview"):
        assert strict.post(f"/schedules/{schedule.id}/{path}", FORM).status_code == 403
    assert Schedule.objects.filter(pk=schedule.pk, enabled=True).exists()


# --- the list --------------------------------------------------------------------------------------


def test_the_filter_is_in_the_address(alice):
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


def test_the_list_says_the_rule_in_the_readers_language():
    of_alice(kind="cron", cron="0 9 * * MON-FRI")
    of_alice(kind="cron", cron="0 9 * * *", timezone="America/New_York")
    assert "at 09:00, Monday to Friday" in text_of(reader().get("/schedules"))
    korean = text_of(reader(language="ko").get("/schedules"))
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


def test_a_place_that_is_nonsense_or_somebody_elses_is_the_beginning(alice):
    of_alice(name="mine")
    other = a_schedule(owner=a_user("bob"), name="zzz")
    for place in ("x", str(other.id)):
        assert names(alice.get(f"/schedules?after={place}")) == ["mine"]


def test_the_last_turns_are_told_in_signs_and_in_words(alice):
    schedule = of_alice()
    fire(schedule)
    end(executions(schedule)[0])
    schedule.refresh_from_db()
    fire(schedule, late=61)
    schedule.refresh_from_db()
    fire(schedule)
    text = text_of(alice.get("/schedules"))
    assert "the newest last: done, missed, waiting, skipped" in text
    Execution.objects.all().delete()
    assert "run, its record is deleted, missed" in text_of(alice.get("/schedules"))


# --- one -------------------------------------------------------------------------------------------


def test_one_schedule_shows_its_next_runs_its_policies_and_its_turns(alice):
    schedule = of_alice(kind="cron", cron="0 9 * * *", timezone="America/New_York", overlap="allow")
    fire(schedule)
    (run,) = executions(schedule)
    claim(run, "w7@test").fail(error="it broke <b>")
    skipped = Occurrence.objects.create(
        schedule=schedule,
        due_at=timezone.now() - timedelta(days=3),
        turn=Turn.SKIPPED,
        reason="The previous Execution had not ended.",
        decided_at=timezone.now(),
    )
    page = alice.get(f"/schedules/{schedule.id}")
    text = text_of(page)
    assert [one.there[-8:] for one in page.context["next"]] == ["09:00:00"] * 5
    assert all(one.here for one in page.context["next"])
    assert "runs beside it" in text
    assert f"/executions/{run.id}" in text
    assert "it broke &lt;b&gt;" in text
    assert "The run before it had not ended." in text
    korean = reader(language="ko").get(f"/schedules/{schedule.id}")
    assert "이전 실행이 끝나지 않았습니다." in text_of(korean)
    assert korean.context["turns"][-1]["turn"] == skipped


def test_what_is_secret_in_the_arguments_is_not_shown(alice):
    url = {"method": "GET", "url": "https://a.example", "headers": {"Authorization": "Bearer abc"}}
    schedule = of_alice(task_id="http.request", args=url)
    for path in pages_of(schedule):
        assert "Bearer abc" not in text_of(alice.get(path)), path


def test_a_schedule_whose_time_is_over_says_so(alice):
    schedule = of_alice(kind="once", at=timezone.now() + timedelta(hours=1))
    fire(schedule)
    text = text_of(alice.get(f"/schedules/{schedule.id}"))
    assert "None: its time is over." in text
    assert "over" in text_of(alice.get("/schedules"))


# --- what can be done ------------------------------------------------------------------------------


def test_it_runs_now_by_hand_and_only_once_at_a_time(alice):
    schedule = of_alice()
    answer = alice.post(f"/schedules/{schedule.id}/run")
    run = Execution.objects.get()
    assert answer["Location"] == f"/executions/{run.id}"
    assert (run.trigger, run.source, run.args) == (
        Trigger.MANUAL,
        str(a_user("alice").pk),
        {"numbers": [1, 2]},
    )
    again = alice.post(f"/schedules/{schedule.id}/run", follow=True)
    assert Execution.objects.count() == 1
    assert "has not ended yet, so no other was started" in text_of(again)
    assert f"/executions/{run.id}" in text_of(again)


def test_it_is_paused_and_goes_on_and_the_reader_stays_where_they_were(alice):
    schedule = of_alice(name="<nightly>")
    form = {"back": "/schedules?q=n"}
    paused = alice.post(f"/schedules/{schedule.id}/pause", form, follow=True)
    assert paused.redirect_chain == [("/schedules?q=n", 302)]
    assert "&lt;nightly&gt; is paused." in text_of(paused)
    assert Schedule.objects.get().next_run_at is None
    resumed = alice.post(f"/schedules/{schedule.id}/resume", {"back": "https://evil.example/"})
    assert resumed["Location"] == f"/schedules/{schedule.id}"
    assert Schedule.objects.get().next_run_at is not None


def test_it_is_deleted_after_being_asked(alice):
    schedule = of_alice()
    fire(schedule)
    path = f"/schedules/{schedule.id}/delete"
    assert "Runs that it has started go on." in text_of(alice.get(path))
    assert Schedule.objects.exists()
    assert alice.post(path)["Location"] == "/schedules"
    assert not Schedule.objects.exists()
    assert Execution.objects.get().status == ExecutionStatus.PENDING


# --- made ------------------------------------------------------------------------------------------


def test_a_schedule_is_made_by_the_form(alice):
    answer = alice.post("/schedules/new", FORM)
    made = Schedule.objects.get()
    assert answer["Location"] == f"/schedules/{made.id}"
    assert (made.name, made.task_id, made.args, made.cron) == (
        "nightly",
        "demo.sum",
        {"numbers": [1, 2]},
        "0 9 * * MON-FRI",
    )
    assert (made.owner, made.enabled, made.next_run_at is None) == (a_user("alice"), True, False)


def test_an_interval_has_a_unit_and_a_time_is_by_the_clock_of_its_zone(alice):
    alice.post(
        "/schedules/new", {**FORM, "kind": "interval", "cron": "left over", "every": "2", "unit": "hours"}
    )
    assert (Schedule.objects.get().every_seconds, Schedule.objects.get().cron) == (7200, "")
    zone = {"kind": "once", "at": "2030-07-01T09:00", "timezone": "America/New_York"}
    alice.post("/schedules/new", {**FORM, **zone, "name": "once"})
    at = Schedule.objects.get(name="once").at
    assert at is not None
    assert at.isoformat() == "2030-07-01T13:00:00+00:00"


@pytest.mark.parametrize(
    ("change", "field", "said", "said_in_korean"),
    [
        ({"cron": "0 25 * * *"}, "cron", "hour: 25 is out of range; allowed: 0-23.", "시: 25은(는)"),
        ({"cron": "* * * * * *"}, "cron", "One of seconds is not", "초 필드는 없습니다"),
        ({"cron": "30 2 30 2 *"}, "cron", "No day fits '30 2 *'", "맞는 날이 없어"),
        ({"cron": ""}, "cron", "It is needed.", "필수 항목"),
        ({"kind": "interval", "every": "0"}, "every", "greater than or equal to 1", "1보다"),
        ({"kind": "interval", "every": "x"}, "every", "A whole number is needed.", "정수를"),
        ({"kind": "once", "at": "2001-01-01T09:00"}, "at", "It lies in the past.", "지난 시각"),
        ({"kind": "once", "at": "soon"}, "at", "A time is needed", "시각을 입력"),
        ({"timezone": "Mars"}, "timezone", "'Mars' is not a time zone", "시간대가 아닙니다"),
        ({"ends_at": "2001-01-01T09:00"}, "ends_at", "So it would never run.", "실행되지 않습니다"),
        ({"task_id": "no.such"}, "task_id", "There is no Task no.such.", "태스크 no.such"),
        ({"task_id": "exports.render"}, "task_id", "started by the system only", "시스템만"),
        ({"args": '{"numbers": "x"}'}, "args", "numbers: ", "numbers: 형식이"),
        ({"args": "{}"}, "args", "numbers: It is needed.", "numbers: 필수"),
        ({"args": '{"numbers": [1], "n": 2}'}, "args", "n: The Task takes no such argument.", "없는 인자"),
        ({"args": "{numbers: 1}"}, "args", "This is not JSON: line 1, character 2", "JSON이 아닙니다"),
        ({"max_retries": "101"}, "max_retries", "less than or equal to 100", "100"),
        ({"name": ""}, "name", "", ""),
    ],
)
def test_a_refusal_stands_beside_its_field_in_the_readers_language(change, field, said, said_in_korean):
    for language, expected in (("en", said), ("ko", said_in_korean)):
        answer = reader(language=language).post("/schedules/new", {**FORM, **change})
        assert answer.status_code == 400
        beside = why(answer, field)
        assert beside
        assert expected in beside
        assert not Schedule.objects.exists()


# --- previewed -------------------------------------------------------------------------------------


def test_the_preview_tells_the_rule_and_its_next_five_runs(alice):
    answer = alice.post("/schedules/preview", FORM)
    assert "at 09:00, Monday to Friday" in text_of(answer)
    assert len(answer.context["next"]) == 5
    assert {one.there[-8:] for one in answer.context["next"]} == {"09:00:00"}
    assert "list of" in text_of(answer)
    assert not Schedule.objects.exists()


def test_the_preview_says_what_is_wrong_and_is_silent_about_what_is_still_empty(alice):
    answer = alice.post(
        "/schedules/preview", {"kind": "cron", "cron": "0 9 * *", "args": "{", "timezone": "UTC"}
    )
    assert "five are expected" in why(answer, "cron")
    assert "This is not JSON" in why(answer, "args")
    assert {why(answer, field) for field in ("name", "task_id", "every", "max_retries")} == {""}
    empty = alice.post("/schedules/preview", {})
    assert empty.status_code == 200
    assert "appear here" in text_of(empty)


def test_the_preview_agrees_with_what_is_saved(alice):
    given = {**FORM, "kind": "interval", "every": "90", "unit": "seconds", "starts_at": "2030-01-01T00:00"}
    shown = [one.at for one in alice.post("/schedules/preview", given).context["next"]]
    alice.post("/schedules/new", given)
    saved = alice.get(f"/schedules/{Schedule.objects.get().id}").context["next"]
    assert [one.at for one in saved] == shown


# --- changed ---------------------------------------------------------------------------------------


def edited(client, schedule: Schedule, **change):
    """The form as it stands in the page, with this change."""
    path = f"/schedules/{schedule.id}/edit"
    texts = client.get(path).context["texts"]
    return client.post(path, {**{name: value for name, value in texts.items() if value}, **change})


def test_saving_what_is_there_changes_nothing_of_the_rule(alice):
    start = timezone.now() - timedelta(seconds=20)
    schedule = a_schedule(now=start, owner=a_user("alice"), every_seconds=3600)
    before = (schedule.anchor, schedule.next_run_at)
    assert edited(alice, schedule, name="other").status_code == 302
    schedule.refresh_from_db()
    assert schedule.name == "other"
    assert (schedule.anchor, schedule.next_run_at) == before


def test_another_kind_takes_its_own_field_and_leaves_the_others(alice):
    schedule = of_alice()
    edited(alice, schedule, kind="cron", cron="5 4 * * *")
    schedule.refresh_from_db()
    assert (schedule.kind, schedule.cron, schedule.every_seconds) == ("cron", "5 4 * * *", None)
    edited(alice, schedule, kind="interval", every="3", unit="days")
    schedule.refresh_from_db()
    assert (schedule.kind, schedule.cron, schedule.every_seconds) == ("interval", "", 3 * 86_400)


def test_an_end_is_set_and_taken_away_again(alice):
    schedule = of_alice()
    edited(alice, schedule, ends_at="2030-01-01T00:00")
    schedule.refresh_from_db()
    assert schedule.ends_at is not None
    edited(alice, schedule, ends_at="")
    schedule.refresh_from_db()
    assert schedule.ends_at is None


def test_times_mean_the_clock_of_the_zone_that_is_chosen_with_them(alice):
    schedule = of_alice(kind="once", at=timezone.now() + timedelta(days=400))
    before = schedule.at
    edited(alice, schedule, timezone="UTC")
    schedule.refresh_from_db()
    assert before is not None
    assert schedule.at == before.replace(microsecond=0) + timedelta(hours=9)


def test_a_hidden_value_stays_what_it_was(alice):
    headers = {"Authorization": "Bearer abc", "X": "1"}
    args = {"method": "GET", "url": "https://a.example", "headers": headers}
    schedule = of_alice(task_id="http.request", args=args)
    texts = alice.get(f"/schedules/{schedule.id}/edit").context["texts"]
    shown = json.loads(texts["args"])
    shown["headers"]["X"] = "2"
    edited(alice, schedule, args=json.dumps(shown))
    schedule.refresh_from_db()
    assert schedule.args["headers"] == {"Authorization": "Bearer abc", "X": "2"}
    shown["headers"] = {"Cookie": shown["headers"]["Authorization"]}
    moved = edited(alice, schedule, args=json.dumps(shown))
    assert "Write the hidden value again" in why(moved, "args")


def test_a_refused_change_changes_nothing_and_keeps_what_was_written(alice):
    schedule = of_alice()
    answer = edited(alice, schedule, name="other", kind="cron", cron="nonsense")
    assert answer.status_code == 400
    assert 'value="nonsense"' in text_of(answer)
    schedule.refresh_from_db()
    assert (schedule.name, schedule.kind) == ("sums", "interval")


def test_the_preview_of_an_unchanged_rule_is_the_rule_itself(alice):
    start = timezone.now() - timedelta(seconds=1000)
    schedule = a_schedule(now=start, owner=a_user("alice"), every_seconds=3600)
    texts = alice.get(f"/schedules/{schedule.id}/edit").context["texts"]
    page = alice.post(f"/schedules/{schedule.id}/preview", {**texts, "name": "other"})
    assert page.context["next"][0].at == schedule.next_run_at


def test_no_page_needs_more_than_its_own_server(alice):
    for path in pages_of(of_alice()):
        page = alice.get(path)
        assert "default-src 'self'" in page["Content-Security-Policy"]
        text = text_of(page)
        for forbidden in (' style="', "<style", "onclick", "<script>", 'src="http', "hx-on"):
            assert forbidden not in text, (path, forbidden)
