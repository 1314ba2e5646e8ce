"""Retention deletes old rows with everything that belongs to them, and keeps what is still in use."""

import time
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from jobs import retention as engine
from jobs.models import Attempt, Batch, Dependency, Event, Execution, Job
from jobs.sql import call
from scheduler import retention, tasks
from scheduler.models import Occurrence, Schedule
from scheduler.schedules import lifecycle as schedules
from scheduler.schedules.firing import fire_due
from tests.factories import an_office, done, fresh, submitted
from tests.schedule_factories import a_schedule, end, executions

pytestmark = pytest.mark.django_db


def age(days: int) -> None:
    """Moves ended rows and all events into the past."""
    past = {"days": days}
    call.change("UPDATE job_queue SET completed_at = completed_at - %(days)s * interval '1 day'", past)
    call.change("UPDATE job_executions SET finished_at = finished_at - %(days)s * interval '1 day'", past)
    call.change("UPDATE job_batches SET ended_at = ended_at - %(days)s * interval '1 day'", past)
    call.change("UPDATE job_events SET at = at - %(days)s * interval '1 day'", past)


def test_an_old_job_is_deleted_with_its_run_edges_batch_and_events():
    first, second = submitted(an_office(), {"ref": "a"}, {"ref": "b", "depends_on": ["a"]})
    done(first)
    done(second)
    age(31)

    deleted = retention.delete_old(timezone.now()).deleted

    assert deleted["jobs"] == 2
    assert deleted["batches"] == 1
    assert not any(table.objects.exists() for table in (Job, Dependency, Execution, Attempt, Batch, Event))


def test_jobs_that_ended_within_the_period_stay():
    job = submitted(an_office(), {})[0]
    done(job)
    age(29)

    retention.delete_old(timezone.now())

    assert fresh(job).execution is not None
    assert Attempt.objects.count() == 1


def test_an_old_job_that_another_job_waits_for_stays():
    first, _, third = submitted(
        an_office(max_concurrent_jobs=5), {"ref": "a"}, {"ref": "b"}, {"ref": "c", "depends_on": ["a", "b"]}
    )
    done(first)
    age(31)

    retention.delete_old(timezone.now())

    assert Job.objects.filter(id=first.id).exists()
    assert Dependency.objects.filter(job=third).count() == 2


def test_a_deleted_schedule_is_kept_as_long_as_its_executions():
    now = timezone.now()
    schedule, other = (a_schedule(now - timedelta(days=40)) for _ in range(2))
    fire_due(now - timedelta(days=40) + timedelta(seconds=60))
    end(executions(schedule)[0])
    end(executions(other)[0])
    schedules.remove(schedule.id, now=now - timedelta(days=39))
    Occurrence.objects.update(decided_at=now - timedelta(days=40))
    assert retention.delete_old(now).deleted["schedules"] == 0
    age(31)
    assert retention.delete_old(now).deleted["schedules"] == 1
    assert list(Schedule.with_deleted.all()) == [other]


def test_retention_deletes_everything_batch_by_batch():
    jobs = submitted(an_office(max_concurrent_jobs=9), *({} for _ in range(5)))
    for job in jobs:
        done(job)
    age(31)

    assert retention.delete_old(timezone.now(), batch=2).deleted["jobs"] == 5


def test_only_offices_with_old_jobs_cost_a_statement():
    done(submitted(an_office(), {})[0])
    age(31)
    for number in range(9):
        done(submitted(an_office(name=str(number)), {})[0])

    now = timezone.now()
    steps = engine.steps(now - timedelta(days=30), now, 100)

    (delete,) = [delete for kind, delete in steps if kind == "jobs"]
    assert delete() == 1


def test_many_rows_of_one_kind_do_not_keep_those_of_another():
    rows, turns = {"many": 5, "few": 1}, []

    def delete(kind: str) -> int:
        turns.append(kind)
        taken = min(rows[kind], 2)
        rows[kind] -= taken
        return taken

    steps = [(kind, partial(delete, kind)) for kind in rows]
    done = engine.delete_in_turn(steps, 2, float("inf"))
    assert turns == ["many", "few", "many", "many"]
    assert done == engine.Pass({"many": 5, "few": 1}, finished=True)
    assert not engine.delete_in_turn(steps, 2, float("-inf")).finished


def test_a_pass_that_left_rows_is_followed_by_another_until_beat_sends_the_next(monkeypatch):
    for job in submitted(an_office(max_concurrent_jobs=9), {}, {}):
        done(job)
    age(31)
    sent = []
    monkeypatch.setattr(tasks, "send_control", lambda name, until, **_: sent.append((name, until)))
    monkeypatch.setattr(retention, "PASS_SECONDS", -1.0)
    tasks.delete_old()
    ((name, until),) = sent
    assert name == "dure.retention" and until > time.time()
    tasks.delete_old(until)
    assert sent[1:] == [(name, until)]
    tasks.delete_old(time.time() - 1)
    assert len(sent) == 2 and Job.objects.count() == 2
    monkeypatch.undo()
    tasks.delete_old(until)
    assert not Job.objects.exists()
