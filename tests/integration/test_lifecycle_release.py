"""claim_join: the last part of a join has arrived, and PostgreSQL decides whether the job may start."""

import pytest

from jobs import lifecycle, office_config
from jobs.effects import Effects
from jobs.errors import Held
from jobs.ids import uuid7
from jobs.states import ExecutionStatus, JobStatus
from tests.events import T, event_types
from tests.factories import an_office, claimed, done, fresh, released, submitted

pytestmark = pytest.mark.django_db

JOIN = ({"ref": "a"}, {"ref": "b"}, {"ref": "c", "depends_on": ["a", "b"]})


def a_free_join(office=None):
    """A join whose dependencies are done."""
    first, second, last = submitted(office or an_office(), *JOIN)
    done(first)
    done(second)
    return last


def test_a_join_is_released_once_all_its_dependencies_are_done():
    last = a_free_join()
    run = released(last)
    assert run is not None
    assert fresh(last).status == JobStatus.PROCESSING
    assert fresh(last).execution.status == ExecutionStatus.RUNNING
    assert event_types(last) == [T.JOB_READY, T.JOB_STARTED]
    assert run.finish() is not None


def test_a_join_without_a_free_slot_is_left_ready():
    office = an_office(max_concurrent_jobs=2)
    last = a_free_join(office)
    others = submitted(office, {}, {})
    with pytest.raises(Held):
        lifecycle.claim_join(str(last.id), token="t", worker="w")
    assert fresh(last).status == JobStatus.READY
    done(others[0])
    assert fresh(last).status == JobStatus.PROCESSING


def test_a_join_of_a_paused_office_is_left_ready():
    office = an_office()
    last = a_free_join(office)
    office_config.change(office.id, {"paused": True})
    assert released(last) is None
    assert fresh(last).status == JobStatus.READY


def test_the_claim_of_a_join_is_repeated_with_its_token():
    last = a_free_join()
    run = released(last, token="mine")
    again = released(last, token="mine")
    assert (again.execution, again.fence) == (run.execution, run.fence)
    assert released(last, token="another") is None


def test_a_release_that_comes_too_early_changes_nothing():
    first, _, last = submitted(an_office(), *JOIN)
    done(first)
    assert released(last) is None
    assert fresh(last).status == JobStatus.PENDING


def test_a_release_that_comes_twice_changes_nothing():
    last = a_free_join()
    run, *others = [released(last, token=str(number)) for number in range(3)]
    assert others == [None, None]
    assert event_types(last) == [T.JOB_READY, T.JOB_STARTED]
    assert run.finish() is not None
    assert released(last) is None


def test_a_release_of_a_job_that_is_gone_changes_nothing():
    assert lifecycle.claim_join(str(uuid7()), token="t", worker="w") is None


def test_a_join_with_the_policy_run_is_released_by_failures_too():
    first, second, last = submitted(an_office(), *JOIN[:2], {**JOIN[2], "on_dependency_failure": "run"})
    assert len(claimed(first).fail().effects.parts) == 1
    lifecycle.cancel(second.office_id, [second.id], actor="me")
    assert released(last) is None, "the cancel has released it already"
    assert fresh(last).status == JobStatus.PROCESSING


def test_a_join_with_the_policy_block_counts_no_failure():
    first, _, last = submitted(an_office(), *JOIN)
    assert claimed(first).fail().effects.parts == []
    assert released(last) is None


def test_a_part_that_came_by_a_manual_retry_is_counted_for_joins_that_still_wait():
    """Otherwise the join's count would stay incomplete, and only a sweep would release it."""
    first, second, last = submitted(an_office(), *JOIN)
    claimed(first).fail()
    lifecycle.retry(first.office_id, [first.id], actor="me")
    assert claimed(first).finish().effects.parts == [
        [str(last.id), str(first.id), 0, "default", "demo.sum", 3]
    ]
    assert claimed(second).finish().effects.parts == [
        [str(last.id), str(second.id), 1, "default", "demo.sum", 3]
    ]


def test_a_part_that_came_by_a_cancel_is_counted_for_joins_that_still_wait(monkeypatch):
    first, second, last = submitted(an_office(), *JOIN[:2], {**JOIN[2], "on_dependency_failure": "run"})
    answers = []
    monkeypatch.setattr(Effects, "on_commit", lambda effects: answers.append(effects))
    lifecycle.cancel(first.office_id, [first.id], actor="me")
    assert answers[0].parts == [[str(last.id), str(first.id), 0, "default", "demo.sum", 3]]
    assert claimed(second).finish().effects.parts == [
        [str(last.id), str(second.id), 1, "default", "demo.sum", 3]
    ]


def test_a_part_that_came_by_an_older_failure_is_counted_too(monkeypatch):
    """The first job of a submission fails with an earlier one; a join below it runs anyway."""
    office = an_office()
    (old,) = submitted(office, {})
    claimed(old).fail()
    answers = []
    monkeypatch.setattr(Effects, "on_commit", lambda effects: answers.append(effects))
    first, _, last = submitted(
        office,
        {"ref": "a", "depends_on": [str(old.id)], "on_dependency_failure": "fail"},
        {"ref": "b"},
        {"depends_on": ["a", "b"], "on_dependency_failure": "run"},
    )
    assert answers[0].parts == [[str(last.id), str(first.id), 0, "default", "demo.sum", 3]]
