"""Runs that the one before has brought along, which are Executions like any other."""

import os
import signal
import time
from pathlib import Path

import pytest

from jobs import lifecycle
from jobs.models import Attempt, Execution, Job
from jobs.states import ExecutionStatus, JobStatus
from tests.engine_workers import LEASE, ended, lines, outcomes, result, started
from tests.events import T, event_types
from tests.factories import an_office, fresh, submitted
from tests.task_events import task_events
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)


def a_chain(*jobs):
    """Each job waits for the one before; the first finish brings the second along, and so on."""
    office = an_office(max_concurrent_jobs=1)
    return submitted(
        office,
        *[
            {"ref": str(place), "depends_on": [str(place - 1)] if place else [], **job}
            for place, job in enumerate(jobs)
        ],
    )


def message_of(job):
    """The message that ran the job's last attempt: its token begins with it."""
    attempt = Attempt.objects.filter(execution__job=job).order_by("execution_id", "number").last()
    return attempt.token.partition(":")[0]


def was_brought_along(job):
    run = fresh(job).execution
    return run.status == ExecutionStatus.RUNNING and not run.token.startswith(str(run.id))


def bring_along(task_id, path):
    """An echo, the job that its end has brought along, and its path; again if the burst was over by then."""
    for number in range(20):
        args = {"path": f"{path}-{number}"}
        first, second = a_chain(echo(1), {"task_id": task_id, "args": args})
        started(second)
        if was_brought_along(second):
            return first, second, args["path"]
        lifecycle.cancel(second.office_id, [second.id], actor="me")
        ended(second)
    raise AssertionError("none of 20 jobs was brought along")


# Longer than the bursts of the fixture.
LONG_SECONDS = 1.2


def echo(value):
    return {"task_id": "try.echo", "args": {"value": value}}


def test_the_jobs_of_a_chain_run_in_one_burst_each_as_an_execution_of_its_own(bursting_worker):
    jobs = a_chain(*[echo(number) for number in range(5)])
    assert [ended(job).status for job in jobs] == [JobStatus.DONE] * 5
    assert [result(job) for job in jobs] == list(range(5))
    assert len({message_of(job) for job in jobs}) < 5, "some were brought along"
    for job in jobs:
        assert outcomes(job) == [("success", "")]
        assert event_types(job) == [T.JOB_READY, T.JOB_STARTED, T.JOB_COMPLETED]
    runs = Execution.objects.filter(job__in=jobs)
    assert len({run.token for run in runs}) == 5
    assert {run.attempt for run in runs} == {1}


def test_a_run_that_takes_longer_than_a_burst_brings_nothing_along(bursting_worker, path):
    first, second, third = a_chain(
        {"task_id": "try.line", "args": {"path": path, "seconds": LONG_SECONDS}}, echo(2), echo(3)
    )
    assert ended(third).status == JobStatus.DONE
    assert message_of(second) != message_of(first)
    assert message_of(second).startswith(str(fresh(second).execution_id)), "it has a message of its own"


def test_a_process_that_dies_in_a_burst_loses_the_run_that_it_has(bursting_worker, path):
    first, second = a_chain(echo(1), {"task_id": "try.die", "args": {"path": path, "lives": 1}})
    assert ended(second).status == JobStatus.DONE
    assert outcomes(first) == [("success", "")]
    assert outcomes(second) == [("lost", "worker_lost"), ("success", "")]


def test_a_run_that_was_brought_along_keeps_its_lease_and_is_cancelled(bursting_worker, path):
    first, second, path = bring_along("try.cancellable", path)
    eventually(lambda: lines(path), what="the second job")
    until = time.monotonic() + LEASE * 1.5
    while time.monotonic() < until:
        assert lifecycle.rescue() == 0
        time.sleep(0.1)
    lifecycle.cancel(second.office_id, [second.id], actor="me")
    assert ended(second).status == JobStatus.CANCELLED
    assert outcomes(first) == [("success", "")]
    assert outcomes(second) == [("cancelled", "cancelled")], "no renewal took it for another run"
    eventually(lambda: lines(path + ".cancelled") == [str(fresh(second).execution_id)], what="on_cancel")


def test_a_run_that_was_brought_along_has_its_own_time_limit(bursting_worker, path):
    _, second = a_chain(
        echo(1), {"task_id": "try.until", "args": {"path": path}, "timeout_ms": 500, "max_retries": 0}
    )
    assert ended(second).failure_type == "timeout"
    assert outcomes(second) == [("timeout", "timeout")]


def test_a_run_that_ignores_its_time_limit_is_killed_in_a_burst_too(bursting_worker, path):
    _, second = a_chain(
        echo(1), {"task_id": "try.stubborn", "args": {"path": path}, "timeout_ms": 500, "max_retries": 0}
    )
    assert ended(second).failure_type == "timeout"
    assert outcomes(second) == [("timeout", "timeout")]


def test_autoretry_decides_about_each_run_by_its_own_task(bursting_worker):
    _, failing = a_chain(echo(1), {"task_id": "try.picky", "args": {"kind": "ValueError"}})
    # It is also pending before it starts.
    eventually(lambda: fresh(failing).retry_count == 1, what="the first failure")
    assert fresh(failing).status == JobStatus.PENDING
    _, final = a_chain(echo(1), {"task_id": "try.picky", "args": {"kind": "KeyError"}})
    assert ended(final).error_message == "KeyError: 'as asked'"
    assert outcomes(failing) == [("failure", "error")]


def test_a_frozen_process_changes_nothing_after_the_run_that_it_has_was_reassigned(bursting_worker, path):
    _, second, path = bring_along("try.until", path)
    run = fresh(second).execution
    pids = [bursting_worker.process.pid, *bursting_worker.pool()]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        eventually(lifecycle.rescue, what="the rescue")
        taken = Execution.objects.get(id=run.id)
        row = lifecycle.claim(str(run.id), taken.dispatch, token="the other", worker="other@test")
        assert row is not None
        lifecycle.finish(str(run.id), row.fence, "success", trigger="JOB", result='"the winner"')
    finally:
        Path(path).touch()
        for pid in reversed(pids):
            os.kill(pid, signal.SIGCONT)
    assert ended(a_chain(echo(2))[0]).status == JobStatus.DONE
    assert (fresh(second).status, result(second)) == (JobStatus.DONE, "the winner")
    assert outcomes(second) == [("lost", "worker_lost"), ("success", "")]


def test_inspect_names_the_run_that_a_burst_has_now(bursting_worker, path):
    from celery import current_app

    _, second, path = bring_along("try.until", path)
    run = fresh(second).execution
    inspect = current_app.control.inspect(["bursting@test"], timeout=30)

    def named():
        (active,) = inspect.active()["bursting@test"]
        (listed,) = inspect._request("dure_runs")["bursting@test"]["runs"]
        return (active["name"], active["args"][0], listed["execution"]) == (
            "try.until",
            str(run.id),
            str(run.id),
        )

    eventually(named, what="the name of what runs")
    Path(path).touch()
    assert ended(second).status == JobStatus.DONE


def test_a_drained_worker_brings_nothing_along(bursting_worker, path):
    from celery import current_app

    first, second = a_chain({"task_id": "try.until", "args": {"path": path}}, echo(2))
    started(first)
    ask = current_app.control.broadcast
    ask("dure_drain", destination=["bursting@test"], reply=True, timeout=30)
    try:
        Path(path).touch()
        assert ended(first).status == JobStatus.DONE
        # Sent or not: that depends on whether the worker's role is still served.
        assert T.JOB_STARTED not in event_types(second)
    finally:
        ask("dure_resume", destination=["bursting@test"], reply=True, timeout=30)
    assert ended(second).status == JobStatus.DONE
    assert not Job.objects.filter(status=JobStatus.PROCESSING).exists()


def test_flower_sees_each_run_of_a_burst(bursting_worker):
    with task_events("bursting@test") as seen:
        jobs = a_chain(*[echo(number) for number in range(4)])
        assert [ended(job).status for job in jobs] == [JobStatus.DONE] * 4
        runs = [str(fresh(job).execution_id) for job in jobs]

        def all_seen():
            kinds = {run: [kind for kind, name in seen if name.startswith(run)] for run in runs}
            return all(kinds[run] == ["task-received", "task-started", "task-succeeded"] for run in runs)

        eventually(all_seen, what=f"the events of {runs}")
    assert len({name for _, name in seen}) == 4
