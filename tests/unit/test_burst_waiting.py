"""A message waits before its claim while short runs keep all cores busy."""

import os
from types import SimpleNamespace

import pytest

from jobs import burst, publish
from jobs.worker import bursts

NOW = 1_000.0
UNTIL = NOW + 10


@pytest.fixture(autouse=True)
def memory(monkeypatch):
    """That of a worker with more processes than cores, of which there are two."""
    monkeypatch.setattr(bursts, "shared", bursts.new_memory())
    monkeypatch.setattr(bursts, "_place", 0)
    monkeypatch.setattr(bursts, "number_of_cores", lambda: 2)
    bursts.shared.exceeds_cores = True
    return bursts.shared


@pytest.fixture
def current(monkeypatch):
    current = burst.Burst("message", "w@test", ["default"], float("inf"), level=3)
    monkeypatch.setattr(burst, "_current", current)
    return current


class Clock:
    """Time passes only when someone sleeps; then `happen` comes first."""

    def __init__(self):
        self.now = NOW
        self.sleeps = 0
        self.happen = lambda: None

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.sleeps += 1
        self.now += seconds
        self.happen()


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(burst, "time", clock)
    return clock


def busy(*places, at=NOW):
    for place in places:
        bursts.shared.busy_at[place] = at


def test_a_message_waits_while_as_many_processes_as_cores_are_busy(current):
    assert not burst.has_to_wait(current, NOW, UNTIL)
    busy(4)
    assert not burst.has_to_wait(current, NOW, UNTIL)
    busy(7)
    assert burst.has_to_wait(current, NOW, UNTIL)


def test_a_message_without_a_level_waits_too(current):
    current.level = None
    busy(1, 2)
    assert burst.has_to_wait(current, NOW, UNTIL)


def test_a_process_that_has_ended_no_run_for_a_moment_counts_no_more(current):
    busy(1, 2)
    assert burst.has_to_wait(current, NOW + bursts.BUSY_SECONDS * 0.9, UNTIL)
    assert not burst.has_to_wait(current, NOW + bursts.BUSY_SECONDS * 1.1, UNTIL)


def test_an_urgent_message_does_not_wait(current):
    busy(1, 2)
    current.level = 0
    assert not burst.has_to_wait(current, NOW, UNTIL)


def test_the_message_of_a_worker_that_stops_does_not_wait(current):
    busy(1, 2)
    bursts.stop()
    assert not burst.has_to_wait(current, NOW, UNTIL)


def test_a_message_does_not_wait_for_ever(current):
    busy(1, 2)
    assert not burst.has_to_wait(current, NOW, NOW)


def test_a_message_goes_on_as_soon_as_a_process_is_no_longer_busy(current, clock):
    busy(1, 2, at=float("inf"))

    def happen():
        if clock.sleeps == 3:
            busy(2, at=0)

    clock.happen = happen
    burst.wait_for_core()
    assert clock.sleeps == 3
    assert bursts.shared.busy_at[0] == clock.now, "no other takes the same core at the same time"


def test_a_message_waits_for_half_a_second_at_most(current, clock):
    busy(1, 2, at=float("inf"))
    burst.wait_for_core()
    assert NOW + 0.5 <= clock.now <= NOW + 0.5 + burst.LOOK_FOR_CORE_SECONDS * 1.5


def test_a_message_that_has_waited_takes_a_core_though_all_are_free_by_now(current, clock):
    busy(1, 2, at=float("inf"))
    clock.happen = lambda: busy(1, 2, at=0)
    burst.wait_for_core()
    assert bursts.count_busy(clock.now) == 1


def test_a_message_that_need_not_wait_takes_a_core_only_beside_short_runs(current, clock):
    burst.wait_for_core()
    assert bursts.count_busy(NOW) == 0, "on an idle system nothing waits for what may be long"
    busy(1)
    burst.wait_for_core()
    assert bursts.count_busy(NOW) == 2
    assert clock.sleeps == 0


def test_nothing_waits_without_bursts(clock):
    busy(1, 2, at=float("inf"))
    burst.wait_for_core()
    assert clock.sleeps == 0


def test_nothing_waits_in_a_worker_with_as_many_processes_as_cores(current, clock):
    bursts.shared.exceeds_cores = False
    busy(1, 2, at=float("inf"))
    burst.wait_for_core()
    assert clock.sleeps == 0


@pytest.mark.parametrize(("index", "exceeds"), [(0, False), (1, False), (2, True), (bursts.PLACES + 1, True)])
def test_a_process_beyond_the_cores_is_noticed(monkeypatch, memory, index, exceeds):
    memory.exceeds_cores = False
    monkeypatch.setattr(bursts, "current_process", lambda: SimpleNamespace(index=index))
    bursts.take_place()
    assert memory.exceeds_cores == exceeds
    bursts.note_busy(NOW)
    assert memory.busy_at[index % bursts.PLACES] == NOW
    bursts.forget_busy()
    assert bursts.count_busy(NOW) == 0


def test_a_process_without_a_pool_takes_the_first_place(memory):
    memory.exceeds_cores = False
    bursts.take_place()
    assert not memory.exceeds_cores


def test_only_the_cores_that_a_process_may_use_count(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5, 8})
    assert bursts.number_of_cores() == 3


def test_the_end_of_a_run_that_may_bring_another_makes_its_process_busy(current, clock, memory, monkeypatch):
    monkeypatch.setattr(publish, "most_urgent_waiting", lambda roles: 9)
    monkeypatch.setattr(burst, "lacks_tasks_of", lambda roles: False)
    current.ends = NOW
    assert burst.next_claim() is None
    assert bursts.count_busy(NOW) == 0, "the burst is over"
    current.ends = NOW + 1
    assert burst.next_claim() is not None
    assert bursts.count_busy(NOW) == 1


@pytest.mark.parametrize("fails", [False, True])
def test_the_end_of_a_message_frees_its_core_and_its_level_is_known(fails, memory):
    seen = []

    def tracer(message, args, kwargs, request):
        bursts.note_busy(NOW)
        seen.append(burst._current.level)
        if fails:
            raise SystemExit

    trace = burst._with_next_runs(tracer)
    try:
        trace("message", (), {}, {"delivery_info": {"priority": 6}})
    except SystemExit:
        assert fails
    assert seen == [6]
    assert bursts.count_busy(NOW) == 0
