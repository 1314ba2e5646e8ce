"""dispatch: ready → processing, strictly in order, within the office's and the roles' limits."""

from collections.abc import Sequence
from typing import Any

import pytest

from jobs import lifecycle, submission
from jobs.answers import AdvanceResult
from jobs.effects import Effects
from jobs.models import Execution, Job, Office
from jobs.states import JobStatus
from tests.factories import a_job, an_office, done, fresh, resume_office, submitted

pytestmark = pytest.mark.django_db


def paused_jobs(*jobs: dict[str, Any], **config: Any) -> tuple[Office, list[Job]]:
    """Ready jobs in a paused office."""
    office = an_office(paused=True, **config)
    return office, submitted(office, *jobs)


def started(jobs: Sequence[Job]) -> list[str]:
    """The refs of the dispatched jobs, in the order of their dispatch."""
    sent = Execution.objects.filter(job__in=jobs).order_by("dispatched_at", "id")
    return [execution.job.ref for execution in sent if execution.job is not None]


def one_by_one(office: Office, jobs: Sequence[Job]) -> list[str]:
    """The order in which an office with one slot runs its jobs."""
    order = []
    resume_office(office)
    for _ in jobs:
        current = Job.objects.get(office=office, status=JobStatus.PROCESSING)
        order.append(current.ref)
        done(current)
    return order


def test_ready_jobs_start_in_order_of_urgency_then_priority_then_age():
    office, jobs = paused_jobs(
        {"ref": "old"},
        {"ref": "young"},
        {"ref": "low", "priority": 500},
        {"ref": "high", "priority": -5},
        {"ref": "urgent and low", "urgent": True, "priority": 900},
        {"ref": "urgent and high", "urgent": True, "priority": 1},
        max_concurrent_jobs=1,
    )
    assert one_by_one(office, jobs) == ["urgent and high", "urgent and low", "high", "old", "young", "low"]


def test_ready_jobs_of_several_roles_start_in_one_order():
    office, jobs = paused_jobs(
        {"ref": "third", "role": "BE", "priority": 30},
        {"ref": "first", "role": "QA", "priority": 10},
        {"ref": "second", "role": "FE", "priority": 20},
        {"ref": "fourth", "role": "BE", "priority": 40},
        max_concurrent_jobs=1,
    )
    assert one_by_one(office, jobs) == ["first", "second", "third", "fourth"]


def test_a_role_at_its_limit_does_not_block_other_roles():
    office, jobs = paused_jobs(
        {"ref": "a", "role": "FE"},
        {"ref": "b", "role": "FE"},
        {"ref": "c", "role": "BE", "priority": 900},
        max_concurrent_jobs=2,
        max_concurrent_by_role={"FE": 1},
    )
    resume_office(office)
    assert sorted(started(jobs)) == ["a", "c"]


def test_a_role_with_a_limit_of_zero_starts_nothing():
    office, jobs = paused_jobs(
        {"ref": "a", "role": "FE"}, {"ref": "b", "role": "BE"}, max_concurrent_by_role={"FE": 0}
    )
    resume_office(office)
    assert started(jobs) == ["b"]


def test_an_office_never_uses_more_than_its_slots():
    office, jobs = paused_jobs(
        *[{"role": role} for role in ("FE", "BE", "QA", "PO") * 3], max_concurrent_jobs=5
    )
    resume_office(office)
    assert Job.objects.filter(office=office, status=JobStatus.PROCESSING).count() == 5
    lifecycle.advance_office(office.id)
    assert Job.objects.filter(office=office, status=JobStatus.PROCESSING).count() == 5
    assert len(jobs) == 12


def test_a_lowered_limit_stops_no_run_and_starts_none():
    office = an_office(max_concurrent_jobs=3)
    jobs = submitted(office, {}, {}, {}, {})
    Office.objects.filter(id=office.id).update(max_concurrent_jobs=1)
    for job in jobs[:2]:
        done(job)
    assert fresh(jobs[3]).status == JobStatus.READY
    done(jobs[2])
    assert fresh(jobs[3]).status == JobStatus.PROCESSING


def test_a_message_carries_the_id_the_dispatch_the_role_and_how_full_its_office_is(monkeypatch):
    answers = []
    monkeypatch.setattr(Effects, "on_commit", lambda effects: answers.append(effects))
    office = an_office(max_concurrent_jobs=20, paused=True)
    ordinary = [{"role": "QA"}] * 11
    submitted(office, *ordinary)
    Office.objects.filter(id=office.id).update(paused=False)
    office.refresh_from_db()
    prepared = submission.prepare(office, [{"task_id": "demo.sum", "args": {"numbers": []}, "urgent": True}])
    lifecycle.submit(prepared)
    sends = answers[-1].send
    assert [send.level for send in sends] == [0, 3, 3, 6, 6, 6, 6, 6, 6, 6, 9, 9]
    assert (sends[1].dispatch, sends[1].role, sends[1].task_id) == (1, "QA", "demo.sum")


def test_the_jobs_of_an_office_take_no_slots_of_another_office():
    full = an_office(max_concurrent_jobs=1)
    submitted(full, {}, {})
    assert a_job(an_office(max_concurrent_jobs=1)).status == JobStatus.PROCESSING


def test_advance_office_of_an_unknown_office_does_nothing():
    assert lifecycle.advance_office("00000000-0000-7000-8000-000000000000") == AdvanceResult(0, 0)
