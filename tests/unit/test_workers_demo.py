import pytest

from dure import FailureType, InvalidArgs, TaskFailure
from dure.testing import FakeContext
from jobs import registry
from workers import demo


@pytest.fixture
def ctx():
    return FakeContext()


def call(task_id, ctx, **args):
    task = registry.find(task_id)
    task.check_args(args)
    return task.call(ctx, args)


def test_the_sum_task_adds_whole_numbers_exactly_and_others_too(ctx):
    assert call("demo.sum", ctx, numbers=[1, 2, 3]) == 6
    assert call("demo.sum", ctx, numbers=[2**62, 2**62]) == 2**63
    assert call("demo.sum", ctx, numbers=[0.5, 1]) == 1.5
    assert call("demo.sum", ctx, numbers=[]) == 0


@pytest.mark.parametrize("numbers", ["12", [None], ["a"], {"a": 1}, None, [float("inf")], [1e308, 1e308]])
def test_the_sum_task_refuses_numbers_without_a_finite_sum(ctx, numbers):
    with pytest.raises(InvalidArgs):
        call("demo.sum", ctx, numbers=numbers)


class Clock:
    """Time passes only when someone sleeps."""

    now = 1_000.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


def test_the_sleep_task_waits_and_reports_progress(ctx, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(demo, "time", clock)
    assert call("demo.sleep", ctx, seconds=2.5) == {"slept": 2.5}
    assert clock.now == 1_002.5
    assert [fraction for fraction, _ in ctx.reported] == [0.4, 0.8, 1.0]


def test_a_short_sleep_reports_no_progress(ctx):
    call("demo.sleep", ctx, seconds=0)
    assert ctx.reported == []


@pytest.mark.parametrize("seconds", [-1, 86_401, "a", None])
def test_the_sleep_task_refuses_invalid_times(ctx, seconds):
    with pytest.raises(InvalidArgs, match="seconds"):
        call("demo.sleep", ctx, seconds=seconds)


def test_the_fail_task_fails_as_requested(ctx):
    with pytest.raises(TaskFailure, match="Failed as asked") as failure:
        call("demo.fail", ctx)
    assert failure.value.failure_type == FailureType.ERROR
    with pytest.raises(TaskFailure, match="boom") as failure:
        call("demo.fail", ctx, message="boom", failure_type="git_conflict")
    assert failure.value.failure_type == FailureType.GIT_CONFLICT


@pytest.mark.parametrize("kind", ["cancelled", "poison", "dependency_failed", "nonsense", ""])
def test_the_fail_task_refuses_failure_types_that_only_the_engine_sets(ctx, kind):
    with pytest.raises(InvalidArgs, match="failure_type"):
        call("demo.fail", ctx, failure_type=kind)


def test_the_flaky_task_fails_as_often_as_asked_and_then_succeeds():
    for attempt in (1, 2):
        with pytest.raises(TaskFailure, match=f"Attempt {attempt} "):
            call("demo.flaky", FakeContext(attempt=attempt), failures=2)
    assert call("demo.flaky", FakeContext(attempt=3), failures=2) == {"attempt": 3}
    assert call("demo.flaky", FakeContext(attempt=1), failures=0) == {"attempt": 1}


@pytest.mark.parametrize(
    "task_id", ["demo.sleep", "demo.sum", "demo.fail", "demo.flaky", "http.request", "command.run"]
)
def test_every_built_in_task_is_registered_and_described(task_id):
    task = registry.find(task_id)
    assert task.description.endswith(".")
    assert task.schema["additionalProperties"] is False


def test_an_unknown_argument_is_refused(ctx):
    with pytest.raises(InvalidArgs, match="second"):
        call("demo.sleep", ctx, seconds=0, second=1)
