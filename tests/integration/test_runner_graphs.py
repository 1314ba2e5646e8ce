"""Graphs, limits and fairness on real workers. No sweep runs unless a test calls it."""

import random
from pathlib import Path

import pytest

from jobs import lifecycle, redis, sweeps
from jobs.models import Event, Execution, Job
from jobs.queries import known_roles
from jobs.states import JobStatus
from tests.engine_workers import ended, started
from tests.events import T, batches_completed, event_types
from tests.factories import a_job, an_office, fresh, submitted
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)


def layered(layers, width, fan_in, **fields):
    """Each job of a layer waits for some of the layer above."""
    chance = random.Random(layers * width)
    graph = []
    for layer in range(layers):
        for place in range(width):
            above = [f"{layer - 1}.{n}" for n in range(width)] if layer else []
            named = chance.sample(above, min(fan_in, len(above)))
            graph.append(
                {"ref": f"{layer}.{place}", "depends_on": named, "task_id": "try.echo", "args": {}, **fields}
            )
    return graph


def all_done(jobs):
    return not Job.objects.filter(id__in=[job.id for job in jobs]).exclude(status=JobStatus.DONE).exists()


def started_after_their_dependencies(jobs):
    rows = Job.objects.filter(id__in=[job.id for job in jobs]).prefetch_related("edges_in__parent")
    return all(job.started_at >= edge.parent.completed_at for job in rows for edge in job.edges_in.all())


def most_at_once(office, role=""):
    """The largest number of concurrent runs, according to the office's events."""
    roles = dict(Job.objects.filter(office=office).values_list("id", "role"))
    running: set[object] = set()
    most = 0
    for event in Event.objects.filter(office_id=office.id, job_id__isnull=False).order_by("id"):
        if role and roles[event.job_id] != role:
            continue
        if event.type == T.JOB_STARTED:
            running.add(event.job_id)
            most = max(most, len(running))
        elif event.type != T.JOB_READY:
            running.discard(event.job_id)
    return most


def test_a_graph_of_joins_runs_to_its_end_without_a_sweep(worker):
    office = an_office(max_concurrent_jobs=10)
    jobs = submitted(office, *layered(6, 6, 3), name="layers")
    eventually(lambda: all_done(jobs), what="the graph's end")
    assert started_after_their_dependencies(jobs)
    assert batches_completed(office) == [{"done": 36}]
    assert {event_types(job).count(T.JOB_READY) for job in jobs} == {1}


def test_a_graph_completes_although_redis_loses_its_data_meanwhile(worker, settings):
    settings.DURE_REPUBLISH_SECONDS = 1.0
    office = an_office(max_concurrent_jobs=4)
    jobs = submitted(office, *layered(5, 4, 2, task_id="demo.sleep", args={"seconds": 0.2}))

    def some_jobs_done():
        return Job.objects.filter(office=office, status=JobStatus.DONE).count() >= 6

    sweeps.sweep_once()
    eventually(some_jobs_done, what="half of the graph")
    redis.client().flushdb()

    def over():
        sweeps.sweep_once()
        return all_done(jobs)

    eventually(over, pause=0.3, what="the graph's end")
    assert started_after_their_dependencies(jobs)
    assert {event_types(job).count(T.JOB_COMPLETED) for job in jobs} == {1}


def test_a_join_below_a_retried_job_needs_no_sweep_either(worker, path):
    office = an_office(max_concurrent_jobs=5)
    bad, good, last = submitted(
        office,
        {"ref": "a", "task_id": "try.die", "args": {"path": path}, "max_retries": 0},
        {"ref": "b", "task_id": "try.until", "args": {"path": path + ".go"}},
        {"depends_on": ["a", "b"]},
    )
    lifecycle.cancel(office.id, [bad.id], actor="me")
    ended(bad)
    Job.objects.filter(id=bad.id).update(task_id="try.echo", args={})
    lifecycle.retry(office.id, [bad.id], actor="me")
    assert ended(bad).status == JobStatus.DONE
    assert fresh(last).status == JobStatus.PENDING
    Path(path + ".go").touch()
    assert [ended(job).status for job in (good, last)] == [JobStatus.DONE] * 2


def test_an_office_and_its_roles_stay_within_their_limits(worker):
    office = an_office(max_concurrent_jobs=3, max_concurrent_by_role={"FE": 1, "BE": 2})
    chance = random.Random(7)
    jobs = submitted(
        office,
        *[
            {"role": role, "task_id": "demo.sleep", "args": {"seconds": chance.choice((0, 0.02, 0.05))}}
            for role in ("FE", "BE", "QA", "default") * 8
        ],
    )
    eventually(lambda: all_done(jobs), what="the end of all")
    assert most_at_once(office) <= 3
    assert [most_at_once(office, role) for role in ("FE", "BE")] <= [1, 2]
    assert most_at_once(office, "BE") <= 2


def test_an_office_with_many_waiting_jobs_does_not_delay_another_office(worker):
    crowd, small = an_office(name="crowd", max_concurrent_jobs=200), an_office(name="small")
    submitted(crowd, *[{"task_id": "demo.sleep", "args": {"seconds": 0.15}}] * 400)
    eventually(lambda: Job.objects.filter(office=crowd, status="done").count() > 5, what="the crowd to move")
    job = ended(a_job(small))
    meanwhile = Job.objects.filter(started_at__gt=job.created_at, started_at__lt=job.started_at)
    assert meanwhile.filter(office=crowd).count() < 100


def test_a_cancelled_batch_leaves_no_run_behind(worker, path):
    office = an_office(max_concurrent_jobs=3)
    graph = layered(4, 5, 2, task_id="try.until", args={"path": path})
    jobs = submitted(office, *graph, name="doomed")
    for job in jobs[:3]:
        started(job)
    answer = lifecycle.cancel(office.id, [job.id for job in jobs], actor="me")
    assert answer.total == 20
    assert {ended(job).status for job in jobs} == {JobStatus.CANCELLED}
    assert batches_completed(office) == [{"cancelled": 20}]
    assert not Execution.objects.filter(finished_at=None).exists()


def test_jobs_may_be_added_below_one_that_runs(worker, path):
    office = an_office()
    first = started(a_job(office, task_id="try.until", args={"path": path}))
    second, third = submitted(
        office, {"ref": "b", "depends_on": [str(first.id)]}, {"depends_on": ["b", str(first.id)]}
    )
    assert fresh(second).status == fresh(third).status == JobStatus.PENDING
    Path(path).touch()
    assert [ended(job).status for job in (first, second, third)] == [JobStatus.DONE] * 3


def test_a_worker_serves_a_role_that_only_it_knows(worker):
    job = a_job(an_office(), task_id="try.echo", args={}, role="Designer")
    assert ended(job).status == JobStatus.DONE
    eventually(lambda: "Designer" in known_roles(), what="the heartbeat of its worker")
