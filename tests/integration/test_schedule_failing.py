"""A schedule notifies once when its runs fail or are missed in a row, and once when a run succeeds again."""

import pytest
from django.core import mail as outgoing

from jobs.errors import Invalid
from jobs.models import Event, Membership
from jobs.notifications import creation, delivery
from jobs.states import EventType, MemberRole, Outcome
from scheduler.models import Schedule
from scheduler.schedules import lifecycle as schedules
from scheduler.schedules.firing import fire_due
from tests.factories import a_user, an_office
from tests.schedule_factories import T0, a_schedule, after, claim, end, executions, fire

pytestmark = pytest.mark.django_db
FAILING, RECOVERED = EventType.SCHEDULE_FAILING, EventType.SCHEDULE_RECOVERED


@pytest.fixture
def alice():
    return a_user("alice")


@pytest.fixture
def office(alice):
    return an_office(alice, name="Ours", notify_emails=["minji@example.org"])


@pytest.fixture
def schedule(alice, office):
    return a_schedule(owner=alice, max_retries=0, notify_after_failures=3, notify_office=office.id)


def run_once(schedule: Schedule, outcome: str, error: str = "broken") -> Schedule:
    """Fires the schedule, and ends its run."""
    schedule.refresh_from_db()
    fire(schedule)
    run = claim(executions(schedule)[-1])
    assert run.finish() if outcome == Outcome.SUCCESS else run.fail(error=error)
    schedule.refresh_from_db()
    return schedule


def events() -> list[str]:
    return list(
        Event.objects.filter(type__in=[FAILING, RECOVERED]).order_by("id").values_list("type", flat=True)
    )


def test_three_failures_in_a_row_are_reported_once(schedule, office):
    for _ in range(2):
        run_once(schedule, Outcome.FAILURE)
    assert events() == []
    assert schedule.failing_since is None
    for number in (3, 4, 5):
        run_once(schedule, Outcome.FAILURE, f"broken {number}")
    assert schedule.consecutive_failures == 5
    assert schedule.failing_since is not None
    event = Event.objects.get(type=FAILING)
    assert (event.office_id, event.job_id) == (office.id, None)
    assert event.details == {
        "schedule_id": str(schedule.id),
        "schedule": "sums",
        "task_id": "demo.sum",
        "failures": 3,
        "missed": 0,
        "execution_id": str(executions(schedule)[2].id),
        "error": "broken 3",
    }


def test_a_success_recovers_it_and_counts_from_the_start(schedule):
    for _ in range(3):
        run_once(schedule, Outcome.FAILURE)
    for _ in range(2):
        run_once(schedule, Outcome.SUCCESS)
    assert events() == [FAILING, RECOVERED]
    assert (schedule.consecutive_failures, schedule.failing_since) == (0, None)
    run_once(schedule, Outcome.FAILURE)
    run_once(schedule, Outcome.FAILURE)
    run_once(schedule, Outcome.SUCCESS)
    run_once(schedule, Outcome.FAILURE)
    assert events() == [FAILING, RECOVERED]
    run_once(schedule, Outcome.FAILURE)
    run_once(schedule, Outcome.FAILURE)
    assert events() == [FAILING, RECOVERED, FAILING]


def test_attempts_that_are_retried_and_cancelled_runs_do_not_count(alice, office):
    schedule = a_schedule(owner=alice, max_retries=1, notify_after_failures=1, notify_office=office.id)
    fire(schedule)
    claim(executions(schedule)[0]).fail(delay_ms=0)
    schedule.refresh_from_db()
    assert (schedule.consecutive_failures, events()) == (0, [])


def test_missed_runs_are_reported_once_by_their_number(alice, office):
    schedule = a_schedule(
        owner=alice, catch_up="none", overlap="allow", notify_after_missed=3, notify_office=office.id
    )
    fire_due(after(125))  # two, of which the later one runs
    schedule.refresh_from_db()
    assert (schedule.consecutive_missed, events()) == (1, [])
    fire_due(after(360 + 61))
    fire_due(after(600 + 61))
    schedule.refresh_from_db()
    assert (events(), schedule.failing_since) == ([FAILING], after(360 + 61))
    event = Event.objects.get(type=FAILING)
    assert (event.details["missed"], event.details["failures"], event.at) == (5, 0, after(360 + 61))
    end(executions(schedule)[-1])
    schedule.refresh_from_db()
    assert (events(), schedule.consecutive_missed) == ([FAILING, RECOVERED], 0)


def test_a_schedule_that_notifies_of_nothing_counts_nothing(alice):
    schedule = a_schedule(owner=alice, max_retries=0, catch_up="none")
    run_once(schedule, Outcome.FAILURE)
    schedule.refresh_from_db()
    fire_due(after(1_000))
    schedule.refresh_from_db()
    assert (schedule.consecutive_failures, schedule.consecutive_missed) == (0, 0)


def test_a_schedule_without_an_office_is_marked_and_no_event_is_written(alice):
    schedule = a_schedule(owner=alice, max_retries=0, notify_after_failures=1)
    run_once(schedule, Outcome.FAILURE)
    assert schedule.failing_since is not None
    assert events() == []


@pytest.mark.parametrize("values", [{"enabled": False}, {"notify_after_failures": 1}])
def test_pausing_it_or_another_number_counts_from_the_start(schedule, values):
    for _ in range(3):
        run_once(schedule, Outcome.FAILURE)
    changed = schedules.change(schedule.id, values, now=T0)
    assert (changed.consecutive_failures, changed.failing_since) == (0, None)
    assert events() == [FAILING]


def test_a_run_that_fails_after_the_pause_is_not_reported(alice, office):
    schedule = a_schedule(owner=alice, max_retries=0, notify_after_failures=1, notify_office=office.id)
    fire(schedule)
    schedules.pause(schedule.id, now=T0)
    claim(executions(schedule)[0]).fail()
    assert events() == []


def test_an_owner_who_has_left_the_office_does_not_notify_it(schedule, office, alice):
    Membership.objects.filter(user=alice).update(role=MemberRole.VIEWER)
    for _ in range(3):
        run_once(schedule, Outcome.FAILURE)
    assert events() == []
    assert schedule.failing_since is not None


def test_an_office_in_which_the_owner_may_not_act_is_refused(schedule, alice):
    other = an_office(a_user("bob"), name="Theirs")
    Membership.objects.create(office=other, user=alice, role=MemberRole.VIEWER)
    with pytest.raises(Invalid) as refused:
        schedules.change(schedule.id, {"notify_office": other.id, "name": "renamed"}, now=T0)
    assert list(refused.value.errors) == ["notify_office"]
    schedule.refresh_from_db()
    assert (schedule.name, schedule.notify_office.name) == ("sums", "Ours")


def test_a_deleted_office_leaves_the_schedule(schedule, office):
    office.delete()
    for _ in range(3):
        run_once(schedule, Outcome.FAILURE)
    assert schedule.notify_office is None
    assert schedule.failing_since is not None


@pytest.mark.django_db(transaction=True)
def test_the_mail_names_the_schedule_and_links_to_it(schedule, office, settings):
    settings.LANGUAGE_CODE = "en"
    for _ in range(3):
        run_once(schedule, Outcome.FAILURE, "No space left.")
    creation.create_from_events(office.pk)
    assert delivery.send_due() == 1
    (message,) = outgoing.outbox
    assert message.subject == "[Dure] Ours: Schedule sums (demo.sum) is failing"
    assert "Since its last success: 3 failed, 0 missed." in message.body
    assert "No space left." in message.body
    assert f"/schedules/{schedule.id}" in message.body
