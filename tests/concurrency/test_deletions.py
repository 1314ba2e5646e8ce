"""Two who delete the same row at once: one of them does, and the activity log says so once."""

import pytest

from exports import replays
from jobs import actors
from jobs.errors import Conflict
from jobs.models import Activity, Deletion
from jobs.notifications import webhooks
from jobs.states import Act, DeletedKind, Surface
from scheduler.models import Schedule
from scheduler.schedules import calendars
from scheduler.schedules import lifecycle as schedules
from scheduler.workflows import lifecycle as workflows
from tests.concurrency.threads import all_at_once
from tests.factories import a_user, an_office
from tests.integration import export_tools as tools
from tests.schedule_factories import T0, a_schedule, a_workflow

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 4


def rows_after(act: Act, delete) -> int:
    """The rows in the log after several threads have deleted the same row."""

    def work(number: int) -> None:
        with actors.act_as(actors.Actor(Surface.API, f"user {number}")):
            delete()

    all_at_once(work, THREADS)
    return Activity.objects.filter(act=act).count()


def test_a_schedule_a_calendar_a_webhook_a_workflow_and_a_replay_are_deleted_once(settings, tmp_path):
    tools.roots(settings, tmp_path)
    alice = a_user("alice")
    schedule = a_schedule(owner=alice)
    calendar = calendars.create({"name": "holidays"}, owner=alice, now=T0)
    office = an_office(alice)
    webhook = webhooks.add(office, "https://example.com/hook")
    workflow = a_workflow(office)
    replay = tools.replay_of(alice)
    deletions = {
        Act.SCHEDULE_DELETED: lambda: schedules.remove(schedule.id, now=T0),
        Act.CALENDAR_DELETED: lambda: calendars.remove(calendar.id, now=T0),
        Act.WEBHOOK_DELETED: lambda: webhooks.remove(webhook),
        Act.WORKFLOW_DELETED: lambda: workflows.remove(workflow.id, now=T0),
        Act.REPLAY_DELETED: lambda: replays.delete(replay),
    }
    assert {act: rows_after(act, delete) for act, delete in deletions.items()} == dict.fromkeys(deletions, 1)


def test_a_deletion_is_undone_once():
    alice = a_user("alice")
    schedule = a_schedule(owner=alice)
    schedules.remove(schedule.id, now=T0, undo_for=alice)
    deletion = Deletion.objects.get(kind=DeletedKind.SCHEDULE)

    def undo() -> None:
        try:
            schedules.restore(deletion, now=T0)
        except Conflict as conflict:
            assert conflict.text.code == "undone_already"

    assert rows_after(Act.SCHEDULE_RESTORED, undo) == 1
    assert Schedule.objects.get().enabled
