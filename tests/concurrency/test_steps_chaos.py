"""Two hundred step queues run as specified although their workers are killed.

The kills are of pool processes, which their worker sees at once, and of whole workers, whose leases have
to run out. What is checked is the database's record, and a file to which every start was written.
"""

import os
import random
import signal
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from jobs import sweeps
from jobs.models import Attempt, Execution
from jobs.states import Outcome
from jobs.subprocesses import process_tree
from scheduler.steps import lifecycle
from scheduler.steps.models import StepEvent, StepQueue
from scheduler.steps.states import NO_OPERATION, UNINIT
from tests.step_factories import a_queue, states, trail
from tests.step_model import FAIL, NOTHING, SUCCEED, ModelJob, expected_run
from tests.step_operations import LIBRARY, WITNESS
from tests.workers import Process, worker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]

QUEUES = int(os.environ.get("DURE_TEST_STEP_QUEUES", "200"))
SECONDS = int(os.environ.get("DURE_TEST_PATIENCE", "300"))
# A process is killed each time that so many attempts have ended, and every so many kills a whole worker.
KILL_EVERY = 15
WHOLE_EVERY = 10
# So many queues start at once, so that a busy machine does not end them all before it kills anything.
PORTION = 10


def a_model(chance: random.Random) -> list[ModelJob]:
    models = [
        ModelJob(
            forward=chance.choices([SUCCEED, NOTHING], [6, 1])[0],
            backward=chance.choices([SUCCEED, NOTHING, FAIL], [5, 1, 1])[0],
        )
        for _ in range(chance.randint(1, 5))
    ]
    spoiled = chance.randrange(len(models))
    how = chance.choices(["no", "fails", "no library"], [3, 6, 1])[0]
    if how == "fails":
        models[spoiled] = ModelJob(FAIL, models[spoiled].backward)
    elif how == "no library":
        models[spoiled] = ModelJob(has_library=False)
    return models


def as_work(tag: str, model: ModelJob, seconds: float) -> dict[str, Any]:
    job: dict[str, Any] = {
        "forward_operation": NO_OPERATION if model.forward == NOTHING else "work",
        "backward_operation": NO_OPERATION if model.backward == NOTHING else "unwork",
        "operation_library": LIBRARY if model.has_library else UNINIT,
    }
    arguments: dict[str, Any] = {"tag": tag, "seconds": seconds}
    if model.forward != NOTHING:
        arguments["fails"] = model.forward == FAIL
    if model.backward != NOTHING:
        arguments["undo_fails"] = model.backward == FAIL
    return {**job, "arguments": arguments} if len(arguments) > 2 else job


class Workers:
    """Two workers of two processes each; a killed worker is restarted."""

    def __init__(self, folder: Path, env: dict[str, str], chance: random.Random) -> None:
        self.folder, self.env, self.chance = folder, env, chance
        self.running = [self.start(number) for number in range(2)]
        self.count = 2
        self.kills: Counter[str] = Counter()

    def start(self, number: int) -> Process:
        return worker(self.folder, queues="default", concurrency=2, name=f"steps{number}", env=self.env)

    def kill_one(self) -> bool:
        """Kills a started process: a worker whose processes are killed earlier gives up."""
        ready = [
            place
            for place, process in enumerate(self.running)
            if "ready." in process.log.read_text(errors="replace")
        ]
        if not ready:
            return False
        place = self.chance.choice(ready)
        process = self.running[place]
        if self.kills.total() % WHOLE_EVERY == WHOLE_EVERY - 1:
            process_tree.kill_tree(process.pid)
            process.kill()
            self.running[place] = self.start(self.count)
            self.count += 1
            self.kills["worker"] += 1
            return True
        if not (children := process.children()):
            return False
        with suppress(ProcessLookupError):
            os.kill(self.chance.choice(children), signal.SIGKILL)
            self.kills["process"] += 1
        return True

    def stop(self) -> None:
        for process in self.running:
            process.stop()


def test_queues_run_as_specified_although_their_workers_are_killed(tmp_path, settings, capsys):
    seed = int(os.environ.get("DURE_TEST_SEED", str(random.randrange(10**6))))
    chance = random.Random(seed)
    # Used by the sweeps in this process. Poison is not tested here, so its limit is high.
    settings.DURE_LEASE_SECONDS, settings.DURE_REPUBLISH_SECONDS, settings.DURE_MAX_CRASHES = 2.0, 1.0, 100
    witness = tmp_path / "witness"
    env = {
        "DURE_WORKER_MODULES": "tests.step_operations",
        "DURE_STEP_BACKWARD_DELAY_SECONDS": "0.05",
        "DURE_MAX_CRASHES": "100",
        WITNESS: str(witness),
    }
    models = {}
    for number in range(QUEUES):
        jobs = a_model(chance)
        made = [as_work(f"{number}.{place}", job, chance.uniform(0, 0.05)) for place, job in enumerate(jobs)]
        models[a_queue(*made, queue_library=UNINIT).queue_id] = jobs
    workers = Workers(tmp_path, env, chance)
    try:
        for process in workers.running:
            process.wait_for_line("ready.")
        break_things_until_all_are_ready(workers, list(models))
    finally:
        workers.stop()
    with capsys.disabled():
        print(f"\n{QUEUES} queues, {dict(workers.kills)} killed, seed {seed}")
    assert workers.kills["process"] >= QUEUES // 20
    check_each_run(models)
    check_each_operation_ended_once()
    check_no_operation_started_after_a_later_one(witness, models)


def break_things_until_all_are_ready(workers: Workers, waiting: list[int]) -> None:
    until = time.monotonic() + SECONDS
    next_kill = KILL_EVERY
    while waiting or StepQueue.objects.filter(state="RUNNING").exists():
        assert time.monotonic() < until, f"still running: {StepQueue.objects.filter(state='RUNNING').count()}"
        sweeps.sweep_once()
        ended = Attempt.objects.count()
        if ended >= next_kill and workers.kill_one():
            next_kill = ended + KILL_EVERY
        if ended < next_kill:
            for queue_id in waiting[:PORTION]:
                lifecycle.run(queue_id)
            del waiting[:PORTION]
        time.sleep(0.1)


def check_each_run(models: dict[int, list[ModelJob]]) -> None:
    for queue in StepQueue.objects.all():
        jobs = models[queue.queue_id]
        expected = expected_run(jobs)
        assert queue.state == "READY"
        assert states(queue) == expected.states
        assert trail(queue) == expected.trail
        # Each operation's effect on the context is there once, however often it was started. The undo that
        # fails is tried twice, and leaves its effect each time.
        assert Counter(queue.context) == expected_context(queue, jobs)


def expected_context(queue: StepQueue, jobs: list[ModelJob]) -> Counter[str]:
    number = sorted(StepQueue.objects.values_list("queue_id", flat=True)).index(queue.queue_id)
    effects: Counter[str] = Counter()
    for place, direction in expected_run(jobs).trail:
        how = jobs[place].forward if direction == "FORWARD" else jobs[place].backward
        if how != NOTHING:
            tries = 2 if (direction, how) == ("BACKWARD", FAIL) else 1
            effects[f"{number}.{place} {direction}"] = tries
    return effects


def check_each_operation_ended_once() -> None:
    counts = Counter(
        (event.queue_id, event.details["job_id"], event.details["direction"])
        for event in StepEvent.objects.filter(type="step_ended")
    )
    assert set(counts.values()) == {1}
    sources = Counter(Execution.objects.filter(task_id="steps.operate").values_list("source", flat=True))
    assert set(sources.values()) == {1}
    accepted = Attempt.objects.filter(outcome=Outcome.SUCCESS).values_list("execution", flat=True)
    assert len(set(accepted)) == len(accepted)


def check_no_operation_started_after_a_later_one(witness: Path, models: dict[int, list[ModelJob]]) -> None:
    """A repeated start belongs to the operation that was running, never to an earlier one."""
    seen: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for line in witness.read_text().splitlines():
        what, tag, direction = line.split(" ")
        owner, _, place = tag.partition(".")
        if what == "start":
            seen[int(owner)].append((int(place), direction))
    for number, jobs in enumerate(models.values()):
        order = {step: position for position, step in enumerate(expected_run(jobs).trail)}
        positions = [order[step] for step in seen[number]]
        assert positions == sorted(positions)
