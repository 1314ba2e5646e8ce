"""Beats are killed at any moment, and each due time is run, skipped or missed once."""

import mmap
import os
import random
import signal
import time
from collections import Counter
from datetime import datetime, timedelta

import pytest
from django.db import connections

from jobs.models import Execution
from scheduler.beat_pass import fire_all
from scheduler.models import Occurrence, Schedule
from scheduler.schedules.firing import fire_due
from tests.schedule_factories import T0, a_schedule, after

pytestmark = pytest.mark.django_db(transaction=True)

BEATS = 4
SCHEDULES = 100
DUE_TIMES = 100
# Simulated seconds from one kill to the next, at most.
STRIDE = 4


class Clock:
    """A simulated clock that all processes share. It is put forward from kill to kill, so that there are
    as many of these on a busy machine as on an idle one."""

    def __init__(self) -> None:
        self.milliseconds = memoryview(mmap.mmap(-1, 8)).cast("q")

    def now(self) -> datetime:
        return T0 + timedelta(milliseconds=self.milliseconds[0])

    def advance(self, seconds: float) -> None:
        self.milliseconds[0] += round(seconds * 1000)


def a_beat(clock: Clock, last: datetime) -> int:
    """A process that fires due schedules by the simulated clock."""
    connections.close_all()  # a connection cannot be used on both sides of a fork
    pid = os.fork()
    if pid:
        return pid
    try:
        while True:
            now = min(clock.now(), last)
            if fire_all(now).schedules == 0:
                # What another pass has locked is due as well, and that beat may have been killed.
                if now == last and not Schedule.objects.filter(next_run_at__lte=now).exists():
                    os._exit(0)
                time.sleep(0.005)
    except BaseException:
        os._exit(1)


def test_four_beats_and_random_kills_decide_ten_thousand_due_times_once_each():
    dice = random.Random(20261118)
    policies = [("latest", "skip"), ("all", "allow"), ("none", "allow"), ("latest", "allow")]
    made = [
        a_schedule(every_seconds=1, catch_up=catch_up, overlap=overlap, ends_at=after(DUE_TIMES))
        for catch_up, overlap in policies
        for _ in range(SCHEDULES // len(policies))
    ]
    clock, last = Clock(), after(DUE_TIMES + 1)
    beats = [a_beat(clock, last) for _ in range(BEATS)]
    kills = 0
    while clock.now() < last:
        clock.advance(dice.uniform(0, STRIDE))
        time.sleep(dice.uniform(0.01, 0.1))
        victim = dice.randrange(BEATS)
        os.kill(beats[victim], signal.SIGKILL)
        os.waitpid(beats[victim], 0)
        beats[victim] = a_beat(clock, last)
        kills += 1
    assert [os.waitpid(beat, 0)[1] for beat in beats] == [0] * BEATS

    assert kills > 20
    turns = list(Occurrence.objects.values_list("schedule_id", "due_at", "outcome", "execution_id"))
    expected = {(each.id, after(second)) for each in made for second in range(1, DUE_TIMES + 1)}
    assert Counter((schedule, due) for schedule, due, *_ in turns) == Counter(expected)
    ran = {(str(schedule), due, execution) for schedule, due, turn, execution in turns if turn == "run"}
    assert ran == set(Execution.objects.values_list("source", "scheduled_for", "id"))
    by_policy = Counter(
        turn for schedule, _, turn, _ in turns if schedule in {each.id for each in made[25:50]}
    )
    assert by_policy == {"run": 25 * DUE_TIMES}  # "all", and overlap allowed
    assert not Schedule.objects.filter(next_run_at__isnull=False).exists()


def test_concurrent_passes_share_the_due_schedules():
    from django.db import transaction

    from tests.concurrency.threads import in_thread

    for _ in range(4):
        a_schedule()
    with transaction.atomic():
        assert fire_due(after(60), limit=3).schedules == 3
        # The first pass has not committed; the second neither waits nor takes the same schedules.
        assert in_thread(lambda: fire_due(after(60)).schedules) == 1
    assert Execution.objects.count() == 4
