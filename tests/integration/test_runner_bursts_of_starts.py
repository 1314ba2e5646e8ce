"""Runs without an office that the one before has brought along, which are Executions like any other."""

import os
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from jobs import lifecycle, sweeps
from jobs.lifecycle.dispatch import FEW
from jobs.models import Attempt, Execution
from jobs.states import EXECUTION_LIVE, ExecutionStatus
from scheduler.beat_pass import pass_once
from tests.engine_workers import LEASE, ending_what_runs, lines, start
from tests.factories import START, a_start, starts
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)
ECHO: dict[str, Any] = {"task_id": "try.echo", "args": {"value": 1}}


def run_after_another(task_id, **args):
    """A run without a message, and one whose end brings it along."""
    now = timezone.now()
    times = {"dispatched_at": now, "sent_at": now, "due_at": None}
    run = Execution.objects.create(**{**START, "task_id": task_id, "args": args}, **times)
    a_start(**ECHO)
    return run


def status(run):
    run.refresh_from_db()
    return run.status


def ended(run):
    eventually(lambda: status(run) not in EXECUTION_LIVE, what=f"the end of {run.task_id}")
    return run.status


def outcomes(run):
    return list(Attempt.objects.filter(execution=run).order_by("number").values_list("outcome", flat=True))


def bring_along(task_id, path):
    """A run that the end of another has brought along, and its path; again if a sweep has sent it before."""
    for number in range(20):
        run = run_after_another(task_id, path=f"{path}-{number}")
        eventually(partial(is_running, run), what=f"the start of {task_id}")
        if not run.token.startswith(str(run.id)):
            return run, f"{path}-{number}"
        lifecycle.cancel_execution(run.id)
        ended(run)
    raise AssertionError("none of 20 runs was brought along")


def is_running(run):
    return status(run) == ExecutionStatus.RUNNING


def test_many_runs_share_few_messages_and_each_runs_once(bursting_worker):
    ids = starts(*[ECHO] * 40)
    runs = Execution.objects.filter(id__in=ids)
    eventually(lambda: not runs.exclude(status="SUCCESS").exists(), what="the end of all runs")
    attempts = Attempt.objects.filter(execution__in=ids)
    assert sorted(attempts.values_list("execution_id", "outcome")) == sorted(
        (each, "success") for each in ids
    )
    messages = {token.partition(":")[0] for token in attempts.values_list("token", flat=True)}
    assert len(messages) < 40, "some were brought along"
    assert len(set(attempts.values_list("token", flat=True))) == 40


def test_a_process_that_dies_in_a_burst_loses_the_run_that_it_has(bursting_worker, path):
    run = run_after_another("try.die", path=path, lives=1)
    assert ended(run) == "SUCCESS"
    assert outcomes(run) == ["lost", "success"]


def test_a_run_that_was_brought_along_keeps_its_lease_and_is_cancelled(bursting_worker, path):
    run, path = bring_along("try.cancellable", path)
    eventually(lambda: lines(path), what="the run")
    until = time.monotonic() + LEASE * 1.5
    while time.monotonic() < until:
        assert lifecycle.rescue() == 0
        time.sleep(0.1)
    lifecycle.cancel_execution(run.id)
    assert ended(run) == "CANCELLED"
    assert outcomes(run) == ["cancelled"]
    eventually(lambda: lines(path + ".cancelled") == [str(run.id)], what="on_cancel")


def test_a_frozen_process_changes_nothing_after_the_run_that_it_has_was_reassigned(bursting_worker, path):
    run, path = bring_along("try.until", path)
    pids = [bursting_worker.process.pid, *bursting_worker.pool()]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        eventually(lifecycle.rescue, what="the rescue")
        run.refresh_from_db()
        row = lifecycle.claim(str(run.id), run.dispatch, token="the other", worker="other@test")
        assert row is not None
        lifecycle.finish(str(run.id), row.fence, "success", trigger="MANUAL", result='"the winner"')
    finally:
        Path(path).touch()
        for pid in reversed(pids):
            os.kill(pid, signal.SIGCONT)
    assert ended(Execution.objects.get(pk=a_start(**ECHO))) == "SUCCESS"
    assert (status(run), run.result) == ("SUCCESS", "the winner")
    assert outcomes(run) == ["lost", "success"]


def test_the_runs_of_a_killed_worker_run_elsewhere_once_each(tmp_path, path, monkeypatch, settings):
    settings.DURE_REPUBLISH_SECONDS = 1.0
    monkeypatch.setenv("DURE_BURST_MS", "1000")
    with start(tmp_path, name="victim", control=False) as victim:
        ids = starts(*[{"task_id": "try.until", "args": {"path": path}}] * (FEW + 10))
        runs = Execution.objects.filter(id__in=ids)
        eventually(lambda: runs.filter(status="RUNNING").exists(), what="the first run")
        victim.process.kill()
        with start(tmp_path, name="heir"), ending_what_runs():
            Path(path).touch()

            def over():
                sweeps.sweep_once()
                pass_once()
                return not runs.exclude(status="SUCCESS").exists()

            eventually(over, LEASE + 60, pause=0.2, what="the end of all runs")
    successes = Attempt.objects.filter(execution__in=ids, outcome="success").values_list(
        "execution_id", flat=True
    )
    assert sorted(successes) == sorted(ids)
