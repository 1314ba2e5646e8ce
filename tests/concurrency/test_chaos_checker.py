"""The chaos checker detects each kind of damage: for each promise, a history that breaks it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.chaos import breakages, checker
from tests.chaos.bodies import EXCLUSIVE, LIMITED, PERIOD
from tests.chaos.history import AttemptMade, Happening, History, JobAtTheEnd, RunAtTheEnd
from tests.chaos.recovery import PROMISED

AT = datetime(2026, 1, 1, tzinfo=UTC)
OFFICE = "office"


class Story:
    """Builds a history event by event."""

    def __init__(self) -> None:
        self.history = History(limits={OFFICE: (2, {"FE": 1})}, jobs={}, events=[], attempts={})

    def job(self, name: str, status: str = "done", **fields: Any) -> "Story":
        defaults: dict[str, Any] = {
            "role": "default",
            "policy": "block",
            "max_retries": 2,
            "retry_count": 0,
            "parents": [],
            "result": {"fence": 1} if status == "done" else None,
            "cancelled_at": None,
            "failure_type": "",
            "explained": ["dependency_failed"] if status == "pending" else [],
            **fields,
        }
        self.history.jobs[name] = JobAtTheEnd(id=name, office=OFFICE, status=status, **defaults)
        return self

    def event(
        self, kind: str, job: str, fence: int | None = 1, seconds: float = 0, **details: Any
    ) -> "Story":
        number = len(self.history.events) + 1
        if fence is not None:
            details = {"execution_id": f"run of {job}", "fence": fence, **details}
        when = AT + timedelta(seconds=seconds)
        self.history.events.append(Happening(number, OFFICE, job, f"job_{kind}", details, when))
        return self

    def start(self, job: str, fence: int = 1, seconds: float = 0) -> "Story":
        self.history.starts.setdefault(f"run of {job}", []).append((fence, 0.0))
        return self.event("started", job, fence, seconds, attempt=fence)

    def run(self, job: str, fence: int = 1) -> "Story":
        return self.start(job, fence).event("completed", job, fence)

    def attempts(self, job: str, *numbers: int) -> "Story":
        self.history.attempts[f"run of {job}"] = [AttemptMade(number, "success") for number in numbers]
        return self

    def lost(self, job: str, seconds: float) -> "Story":
        """The first attempt loses its worker at once; the second one starts so many seconds later."""
        self.start(job, 1).event("retrying", job, 1, retry_at=AT.isoformat(), failure_type="worker_lost")
        self.start(job, 2, seconds).event("completed", job, 2, seconds)
        first = AttemptMade(1, "lost", "one@test", AT, AT + timedelta(seconds=2))
        self.history.attempts[f"run of {job}"] = [first, AttemptMade(2, "success")]
        self.history.recovery.losses.append(("one@test", AT.timestamp()))
        return self

    def ran(self, task: str, owner: str, since: float, until: float) -> "Story":
        """A run without a job whose only attempt and whose body took this time."""
        name = f"run {len(self.history.runs)}"
        self.history.runs[name] = RunAtTheEnd(task, owner, None, "SUCCESS")
        times = (AT + timedelta(seconds=since), AT + timedelta(seconds=until))
        self.history.attempts[name] = [AttemptMade(1, "success", "one@test", *times)]
        self.history.starts[name] = [(1, since)]
        self.history.ends[name] = [(1, until)]
        return self

    def wrong(self) -> set[str]:
        """The promises that the checker reports as broken."""
        return {name for name, violations in checker.check(self.history).items() if violations}


def test_a_valid_history_has_no_violations():
    story = Story().job("a").job("b", parents=["a"]).job("c", "failed").job("d", "pending", parents=["c"])
    story.job("e", "cancelled", cancelled_at=AT)
    story.run("a").attempts("a", 1).run("b").start("c").event("failed", "c").event("cancelled", "e", None)
    assert story.wrong() == set()


@pytest.mark.parametrize("status", ["ready", "processing", "timeout", "pending"])
def test_a_job_that_never_ended_is_reported(status):
    assert Story().job("a", status).wrong() == {"nothing_is_lost"}


def test_a_job_that_waits_although_all_before_it_are_done_is_reported():
    assert Story().job("a").run("a").job("b", "pending", parents=["a"]).wrong() == {"nothing_is_lost"}


def test_a_job_that_should_have_run_after_a_failure_and_waits_is_reported():
    story = Story().job("a", "failed").start("a").event("failed", "a")
    assert story.job("b", "pending", parents=["a"], policy="run").wrong() == {"nothing_is_lost"}


def test_a_second_end_is_reported():
    assert "one_result_each" in Story().job("a").run("a").event("failed", "a").wrong()


def test_a_result_of_another_owner_is_reported():
    assert Story().job("a", result={"fence": 1}).run("a", fence=2).wrong() == {"one_result_each"}


def test_a_completion_that_did_not_count_is_reported():
    assert "one_result_each" in Story().job("a", "failed").run("a").wrong()


def test_a_done_job_that_never_completed_is_reported():
    assert Story().job("a").wrong() == {"one_result_each"}


def test_a_run_with_two_owners_is_reported():
    story = Story().job("a", result={"fence": 2}).start("a", 1).start("a", 2).event("completed", "a", 2)
    assert story.wrong() == {"one_owner_at_a_time"}


def test_a_fence_that_does_not_grow_is_reported():
    story = Story().job("a").start("a", 1).event("retrying", "a", 1).start("a", 1).event("completed", "a", 1)
    assert story.wrong() == {"one_owner_at_a_time"}


def test_an_end_by_a_process_that_was_not_the_owner_is_reported():
    story = (
        Story()
        .job("a", result={"fence": 1})
        .start("a", 1)
        .event("retrying", "a", 1)
        .event("completed", "a", 1)
    )
    assert "one_owner_at_a_time" in story.wrong()


def test_a_start_before_a_dependency_ended_is_reported():
    story = Story().job("a").job("b", parents=["a"]).start("a").run("b").event("completed", "a")
    assert story.wrong() == {"dependencies_come_first"}


def test_a_start_after_a_failure_is_reported_unless_the_policy_wants_it():
    story = Story().job("a", "failed").job("b", parents=["a"]).start("a").event("failed", "a").run("b")
    assert story.wrong() == {"dependencies_come_first"}
    story.history.jobs["b"].policy = "run"
    assert story.wrong() == set()


def test_an_excess_run_of_an_office_is_reported():
    story = Story().job("a").job("b").job("c").start("a").start("b").start("c")
    for name in "abc":
        story.event("completed", name)
    assert story.wrong() == {"limits_hold"}


def test_an_excess_run_of_a_role_is_reported():
    story = Story().job("a", role="FE").job("b", role="FE").start("a").start("b")
    assert story.event("completed", "a").event("completed", "b").wrong() == {"limits_hold"}


def test_an_excess_that_was_sampled_is_reported():
    story = Story()
    story.history.sampled_excess = ["3 of 2 slots"]
    assert story.wrong() == {"limits_hold"}


def test_a_run_without_a_job_that_never_ended_is_reported():
    story = Story().ran(EXCLUSIVE, "alice", 0, 1)
    story.history.runs["run 0"].status = "PENDING"
    assert story.wrong() == {"nothing_is_lost"}


@pytest.mark.parametrize("second", [1.0, 0.9])
def test_exclusive_runs_of_one_owner_at_once_are_reported(second):
    story = Story().ran(EXCLUSIVE, "alice", 0, 1).ran(EXCLUSIVE, "alice", second, 2)
    story.ran(EXCLUSIVE, "bob", 0, 9).ran("chaos.work", "alice", 0, 9)
    assert story.wrong() == (set() if second == 1.0 else {"exclusive_runs_are_alone"})


def test_bodies_of_exclusive_runs_at_once_are_reported_whatever_their_attempts_say():
    story = Story().ran(EXCLUSIVE, "alice", 0, 1).ran(EXCLUSIVE, "alice", 1, 2)
    story.history.starts["run 1"] = [(1, 0.9)]
    assert story.wrong() == {"exclusive_runs_are_alone"}


@pytest.mark.parametrize("third", [PERIOD, PERIOD - 0.001])
def test_more_starts_in_a_period_than_the_rate_limit_are_reported(third):
    story = Story().ran(LIMITED, "alice", 0, 9).ran(LIMITED, "bob", 0.5, 9).ran(LIMITED, "alice", third, 9)
    assert story.wrong() == (set() if third == PERIOD else {"starts_keep_the_rate"})


def test_a_retry_before_its_time_is_reported():
    story = Story().job("a", result={"fence": 2}).start("a", 1)
    story.event("retrying", "a", 1, retry_at=(AT + timedelta(seconds=5)).isoformat(), failure_type="error")
    story.start("a", 2, seconds=4.9).event("completed", "a", 2)
    assert story.wrong() == {"retries_follow_their_policy"}


def test_a_retry_too_many_is_reported():
    story = Story().job("a", "failed", max_retries=1)
    for fence in (1, 2):
        story.start("a", fence)
        story.event("retrying", "a", fence, retry_at=AT.isoformat(), failure_type="error")
    story.start("a", 3).event("failed", "a", 3)
    assert story.wrong() == {"retries_follow_their_policy"}


@pytest.mark.parametrize("numbers", [(1, 3), (2,), (1, 1)])
def test_attempts_with_a_gap_are_reported(numbers):
    assert Story().job("a").run("a").attempts("a", *numbers).wrong() == {"retries_follow_their_policy"}


@pytest.mark.parametrize("kind", ["started", "completed", "failed", "retrying"])
def test_a_run_that_continues_after_a_cancel_is_reported(kind):
    story = Story().job("a", "cancelled", cancelled_at=AT).event("cancelled", "a", None).event(kind, "a")
    assert "cancelled_stays_cancelled" in story.wrong()


def test_a_cancel_that_was_forgotten_is_reported():
    assert Story().job("a", cancelled_at=AT).run("a").wrong() == {"cancelled_stays_cancelled"}


def test_a_success_without_a_body_is_reported():
    story = Story().job("a").event("started", "a").event("completed", "a")
    assert story.wrong() == {"bodies_ran_for_what_was_accepted"}


def test_a_retry_by_hand_starts_at_once_and_counts_from_zero():
    story = Story().job("a", result={"fence": 4}, max_retries=1)
    later = (AT + timedelta(seconds=60)).isoformat()
    for fence in (1, 3):
        story.start("a", fence)
        story.event(
            "retrying", "a", fence, retry_at=later if fence == 1 else AT.isoformat(), failure_type="error"
        )
        if fence == 1:
            story.event("retrying", "a", None, by_hand=True)
    assert story.start("a", 4).event("completed", "a", 4).wrong() == set()


def test_a_cancelled_job_may_be_retried_by_hand():
    story = Story().job("a").event("cancelled", "a", None).event("retrying", "a", None, by_hand=True)
    assert story.run("a").wrong() == set()


@pytest.mark.parametrize("policy", ["block", "fail"])
def test_a_wait_for_a_failed_dependency_that_nothing_explains_is_reported(policy):
    story = Story().job("a", "failed").start("a").event("failed", "a")
    story.job("b", "pending", parents=["a"], policy=policy, explained=["dependencies_unfinished"])
    assert "waits_are_explained" in story.wrong()


def test_a_program_that_outlives_its_run_is_reported():
    story = Story()
    story.history.surviving_programs = ["program 7"]
    assert story.wrong() == {"programs_end_with_their_run"}


@pytest.mark.parametrize(("down", "reported"), [(0.0, True), (10.0, False)])
def test_a_late_restart_is_reported_unless_no_worker_could_have_started_it(down, reported):
    story = Story().job("a", result={"fence": 2}).lost("a", seconds=PROMISED + 5)
    story.history.recovery.moments = [(AT.timestamp() + down, AT.timestamp() + 100)]
    assert story.wrong() == ({"lost_runs_start_again_soon"} if reported else set())


def test_every_check_has_a_history_that_fails_it():
    tried = {
        "nothing_is_lost",
        "one_result_each",
        "one_owner_at_a_time",
        "dependencies_come_first",
        "limits_hold",
        "exclusive_runs_are_alone",
        "starts_keep_the_rate",
        "retries_follow_their_policy",
        "cancelled_stays_cancelled",
        "bodies_ran_for_what_was_accepted",
        "waits_are_explained",
        "programs_end_with_their_run",
        "lost_runs_start_again_soon",
    }
    assert {check.__name__ for check in checker.CHECKS} == tried


@pytest.mark.parametrize("name", breakages.NAMES)
def test_the_guard_that_each_breakage_takes_out_is_there(name):
    breakages.broken(name)
