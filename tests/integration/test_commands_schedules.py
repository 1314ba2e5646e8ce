"""`manage.py schedules`: list, show, run, pause, resume and delete."""

import pytest

from jobs.models import Execution
from jobs.states import Trigger
from scheduler.api.schemas import ScheduleOut
from scheduler.clock import database_now
from scheduler.models import Schedule
from tests.factories import a_user
from tests.integration.commands import run
from tests.schedule_factories import a_schedule, fire

pytestmark = pytest.mark.django_db

NOBODY = "00000000-0000-7000-8000-000000000000"


def again(schedule: Schedule) -> Schedule:
    return Schedule.objects.get(pk=schedule.pk)


def names_of(answer) -> set[str]:
    return {row["name"] for row in answer.json["results"]}


# --- list and show -----------------------------------------------------------------------------------


def test_the_list_has_rules_in_words_the_newest_first_and_korean_names_in_columns():
    a_schedule(name="야간 백업", kind="cron", cron="30 2 * * 1-5", owner=a_user("alice"))
    a_schedule(name="sums")
    lines = run("schedules", "list").lines
    assert "sums" in lines[1] and "every 1 minute" in lines[1]
    assert "야간 백업" in lines[2] and "at 02:30, Monday to Friday" in lines[2] and lines[2].endswith("alice")


FILTERS: list[tuple[list[str], set[str]]] = [
    ([], {"nightly", "often", "held"}),
    (["--status", "enabled"], {"nightly", "often"}),
    (["--status", "paused"], {"held"}),
    (["--kind", "cron"], {"nightly"}),
    (["--kind", "cron,interval", "--status", "enabled"], {"nightly", "often"}),
    (["--task", "demo.sleep"], {"often"}),
    (["--owner", "alice"], {"nightly"}),
    (["--owner", "nobody"], set()),
    (["--since", "2030-01-01"], set()),
]


def test_filters_narrow_the_list():
    a_schedule(name="nightly", kind="cron", cron="0 2 * * *", owner=a_user("alice"))
    a_schedule(name="often", task_id="demo.sleep", args={"seconds": 1})
    a_schedule(name="held", enabled=False)
    for words, names in FILTERS:
        answer = run("schedules", "list", *words, "--json")
        assert (names_of(answer), answer.code) == (names, 0 if names else 1), words


def test_the_list_is_bounded_and_speaks_as_the_api_does():
    a_schedule(name="older")
    newer = a_schedule(name="newer")
    answer = run("schedules", "list", "--limit", 1, "--json")
    assert answer.json == {"results": [ScheduleOut.write(again(newer))], "more": True}


def test_a_schedule_is_shown_by_name_with_next_and_recent_runs():
    schedule = a_schedule(name="sums", kind="cron", cron="*/10 * * * *")
    fire(schedule)
    output = run("schedules", "show", "sums").out
    assert "every 10 minutes" in output
    assert "scheduled runs, newest first" in output
    document = run("schedules", "show", schedule.id, "--json").json
    assert len(document.pop("next")) == 5
    (turn,) = document.pop("turns")
    assert turn["execution_id"] == str(Execution.objects.get().id)
    assert document == ScheduleOut.write(again(schedule))


def test_a_schedule_that_is_held_has_no_next_times():
    schedule = a_schedule(enabled=False)
    assert run("schedules", "show", schedule.id, "--json").json["next"] == []


def test_an_unknown_schedule_exits_with_1_and_an_ambiguous_name_with_2():
    assert run("schedules", "show", "nothing").code == 1
    assert run("schedules", "show", NOBODY).code == 1
    a_schedule(name="twin")
    a_schedule(name="twin")
    assert run("schedules", "show", "twin").code == 2


# --- act ---------------------------------------------------------------------------------------------


def test_the_run_command_makes_an_execution_that_its_owner_sees():
    owner = a_user("alice")
    schedule = a_schedule(name="sums", owner=owner, args={"numbers": [7]})
    answer = run("schedules", "run", "sums", "--json")
    assert answer.code == 0
    made = Execution.objects.get(pk=answer.json["results"][0]["execution_id"])
    assert (made.trigger, made.source, made.args) == (Trigger.MANUAL, str(owner.pk), {"numbers": [7]})
    assert again(schedule).next_run_at == schedule.next_run_at


def test_the_run_command_is_refused_while_a_run_of_the_task_is_live():
    a_schedule(name="sums")
    assert run("schedules", "run", "sums").code == 0
    answer = run("schedules", "run", "sums")
    assert answer.code == 1
    assert "refused: A run of demo.sum is still in progress." in answer.out


def test_the_pause_and_resume_commands_stop_and_continue_a_schedule():
    schedule = a_schedule(name="sums")
    assert run("schedules", "pause", "sums").code == 0
    assert (again(schedule).enabled, again(schedule).next_run_at) == (False, None)
    assert run("schedules", "resume", schedule.id).code == 0
    assert again(schedule).next_run_at > database_now()


def test_an_unknown_schedule_does_not_stop_the_command_for_the_others():
    schedule = a_schedule(name="sums")
    answer = run("schedules", "pause", "sums", "nothing", NOBODY)
    assert answer.code == 1
    assert {"nothing  there is no such schedule", f"{NOBODY}  there is no such schedule"} <= set(answer.lines)
    assert not again(schedule).enabled


def test_the_delete_command_needs_consent_even_for_a_named_schedule():
    schedule = a_schedule(name="sums")
    answer = run("schedules", "delete", "sums")
    assert answer.code == 2
    assert answer.err.startswith("This would delete 1 schedule: say --yes")
    assert again(schedule)
    assert run("schedules", "delete", "sums", "--yes").code == 0
    assert not Schedule.objects.exists()


def test_all_matching_schedules_are_changed_with_consent():
    mine = [a_schedule(name=name, task_id="demo.sleep", args={"seconds": 1}) for name in ("a", "b")]
    other = a_schedule(name="other")
    assert run("schedules", "pause", "--task", "demo.sleep").code == 2
    dry = run("schedules", "pause", "--task", "demo.sleep", "--dry-run", "--json")
    assert (dry.code, names_of(dry)) == (0, {"a", "b"})
    assert all(again(schedule).enabled for schedule in mine)
    assert run("schedules", "pause", "--task", "demo.sleep", "--yes").code == 0
    assert not any(again(schedule).enabled for schedule in mine)
    assert again(other).enabled


@pytest.mark.parametrize("verb", ["run", "pause", "resume", "delete"])
def test_a_command_needs_a_schedule_or_a_filter(verb):
    schedule = a_schedule(name="sums")
    for words in ([], ["sums", "--all"], ["sums", "--status", "paused"], ["--status", "none"]):
        assert run("schedules", verb, *words).code == 2
    assert run("schedules", verb, "--task", "no.such", "--yes").code == 1
    assert again(schedule).enabled
    assert not Execution.objects.exists()
