"""Random operations on the real database give the results of a simple model."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from jobs import lifecycle
from jobs.models import Attempt, Execution, Job, Office
from jobs.sql import call
from jobs.states import Outcome
from tests.concurrency.engine_model import LIVE, ModelJob, ModelOffice
from tests.events import T, event_types
from tests.factories import Claimed, an_office, claimed, expire_lease, submitted

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unsent")]

A_DAY = timedelta(days=1)
NUMBERS = st.integers(0, 40)
SOME = st.lists(NUMBERS, min_size=1, max_size=4)
SHAPES = st.lists(
    st.fixed_dictionaries(
        {
            "deps": st.lists(NUMBERS, max_size=3),
            "policy": st.sampled_from(["block", "fail", "run"]),
            "role": st.sampled_from(["FE", "default"]),
            "priority": st.sampled_from([1, 100]),
            "urgent": st.booleans(),
            "max_retries": st.integers(0, 2),
        }
    ),
    min_size=1,
    max_size=5,
)


class Verbs(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.whole = transaction.atomic()
        self.whole.__enter__()
        self.office = an_office(max_concurrent_jobs=2, max_concurrent_by_role={"FE": 1})
        self.model = ModelOffice(limit=2, by_role={"FE": 1})
        self.jobs: list[Job] = []
        self.runs: dict[int, Claimed] = {}
        self.former: list[Claimed] = []
        self.tokens = 0

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.whole.__exit__(None, None, None)

    def settled(self) -> None:
        """Chords release joins in production; here, the sweep does."""
        lifecycle.advance_office(self.office.id)
        self.model.process()

    def pick(self, numbers: list[int]) -> list[int]:
        return sorted({number % len(self.jobs) for number in numbers}) if self.jobs else []

    def running(self, number: int) -> int | None:
        owned = sorted(self.runs)
        return owned[number % len(owned)] if owned else None

    @rule(shapes=SHAPES)
    def submit(self, shapes: list[dict[str, Any]]) -> None:
        start = len(self.jobs)
        new, bodies = [], []
        for place, shape in enumerate(shapes):
            number = start + place
            deps = sorted({dep % number for dep in shape["deps"]}) if number else []
            expected = {key: shape[key] for key in ("role", "priority", "urgent", "max_retries")}
            new.append(ModelJob(number=number, deps=deps, policy=shape["policy"], **expected))
            named = [str(self.jobs[dep].id) if dep < start else str(dep) for dep in deps]
            bodies.append(
                {
                    "ref": str(number),
                    "depends_on": named,
                    "on_dependency_failure": shape["policy"],
                    **expected,
                }
            )
        self.jobs += submitted(self.office, *bodies)
        self.model.submit(new)
        self.settled()

    @rule(number=NUMBERS)
    def claim(self, number: int) -> None:
        for picked in self.pick([number]):
            self.tokens += 1
            run = claimed(self.jobs[picked], token=str(self.tokens))
            assert (run is not None) == (self.model.jobs[picked].run == "sent")
            if run is not None:
                self.model.jobs[picked].run = "running"
                self.runs[picked] = run

    @rule(number=NUMBERS, outcome=st.sampled_from(["success", "failure", "timeout"]), again=st.booleans())
    def finish(self, number: int, outcome: str, again: bool) -> None:
        if (picked := self.running(number)) is None:
            return
        run = self.runs.pop(picked)
        self.former.append(run)
        delay = 60_000 if again else None
        failure = {"success": "", "failure": "error", "timeout": "timeout"}[outcome]
        result = "1" if outcome == Outcome.SUCCESS else None
        assert run.finish(outcome, failure_type=failure, result=result, delay_ms=delay) is not None
        self.model.finish(self.model.jobs[picked], outcome, again=again)
        self.settled()

    @rule(number=NUMBERS, expired=st.booleans())
    def lose(self, number: int, expired: bool) -> None:
        if (picked := self.running(number)) is None:
            return
        run = self.runs.pop(picked)
        self.former.append(run)
        if expired:
            expire_lease(run.execution)
            assert lifecycle.rescue() == 1
        else:
            assert run.lose() is not None
        self.model.lose(self.model.jobs[picked])
        self.settled()

    @rule(number=NUMBERS)
    def a_former_owner_comes_back(self, number: int) -> None:
        if self.former:
            run = self.former[number % len(self.former)]
            assert run.finish() is None
            assert run.fail() is None
            assert run.lose() is None

    @rule(numbers=SOME)
    def cancel(self, numbers: list[int]) -> None:
        picked = self.pick(numbers)
        lifecycle.cancel(self.office.id, [self.jobs[name].id for name in picked], actor="model")
        self.model.cancel([self.model.jobs[name] for name in picked])
        self.settled()

    @rule(numbers=SOME)
    def retry(self, numbers: list[int]) -> None:
        picked = self.pick(numbers)
        lifecycle.retry(self.office.id, [self.jobs[name].id for name in picked], actor="model")
        self.model.retry([self.model.jobs[name] for name in picked])
        self.settled()

    @rule(number=NUMBERS, priority=st.integers(-5, 200), urgent=st.booleans())
    def reprioritise(self, number: int, priority: int, urgent: bool) -> None:
        for picked in self.pick([number]):
            job = self.model.jobs[picked]
            changed = lifecycle.reprioritise(
                self.office.id, [self.jobs[picked].id], priority=priority, urgent=urgent
            )
            assert changed == (job.status in LIVE)
            if changed:
                job.priority, job.urgent = priority, urgent

    @rule(limit=st.integers(1, 4), paused=st.booleans())
    def configure(self, limit: int, paused: bool) -> None:
        Office.objects.filter(id=self.office.id).update(max_concurrent_jobs=limit, paused=paused)
        self.model.limit, self.model.paused = limit, paused
        self.settled()

    @rule()
    def send_due(self) -> None:
        lifecycle.send_due(timezone.now() + A_DAY)
        if any(job.later for job in self.model.jobs):
            self.model.process(later_too=True)
        self.settled()

    @invariant()
    def the_rows_are_as_the_model_says(self) -> None:
        rows = dict(Job.objects.filter(office=self.office).values_list("id", "status"))
        expected = {job.id: model.status for job, model in zip(self.jobs, self.model.jobs, strict=True)}
        assert rows == expected
        live = Execution.objects.filter(office_id=self.office.id, finished_at=None)
        states = {execution.job_id: execution.status for execution in live}
        runs = {"sent": "PENDING", "running": "RUNNING", "waits": "PENDING"}
        assert states == {
            job.id: runs[model.run]
            for job, model in zip(self.jobs, self.model.jobs, strict=True)
            if model.run
        }

    @invariant()
    def nothing_waits_for_a_failure_that_it_shares(self) -> None:
        waiting = call.rows(
            "SELECT c.id FROM job_queue c JOIN job_dependencies d ON d.job_id = c.id "
            "JOIN job_queue p ON p.id = d.parent_id WHERE c.office_id = %s "
            "AND c.status IN ('pending', 'timeout') AND c.on_dependency_failure = 'fail' "
            "AND p.status IN ('failed', 'cancelled')",
            [self.office.id],
        )
        assert waiting == []

    @invariant()
    def attempts_are_numbered_and_ends_have_events(self) -> None:
        for execution in Execution.objects.filter(office_id=self.office.id):
            numbers = list(
                Attempt.objects.filter(execution=execution)
                .order_by("number")
                .values_list("number", flat=True)
            )
            running = execution.status == "RUNNING"
            assert numbers == list(range(1, execution.attempt + 1 - running))
        for job, model in zip(self.jobs, self.model.jobs, strict=True):
            ends = {"done": T.JOB_COMPLETED, "failed": T.JOB_FAILED, "cancelled": T.JOB_CANCELLED}
            if model.status in ends:
                assert event_types(job)[-1] == ends[model.status]

    @invariant()
    def a_batch_has_ended_exactly_when_its_jobs_have(self) -> None:
        open_ones = call.rows(
            "SELECT b.id FROM job_batches b JOIN job_queue q ON q.batch_id = b.id WHERE b.office_id = %s "
            "GROUP BY b.id HAVING (b.ended_at IS NULL) <> bool_or(q.completed_at IS NULL)",
            [self.office.id],
        )
        assert open_ones == []

    @invariant()
    def no_batch_completes_twice_in_a_row(self) -> None:
        repeated = call.rows(
            "SELECT batch_id FROM ("
            "    SELECT batch_id, type, lag(type) OVER (PARTITION BY batch_id ORDER BY id) AS before"
            "    FROM job_events WHERE office_id = %s AND batch_id IS NOT NULL"
            ") AS e WHERE type = 'batch_completed' AND before = 'batch_completed'",
            [self.office.id],
        )
        assert repeated == []


def test_random_operations_match_a_simple_model():
    run_state_machine_as_test(
        Verbs,
        settings=settings(max_examples=30, stateful_step_count=25, suppress_health_check=list(HealthCheck)),
    )
