"""Every job of a random graph ends according to its policy, after its dependencies. No process runs."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dure.failures import FailureType
from jobs import lifecycle
from jobs.answers import AdvanceResult
from jobs.models import Event, Execution, Job, Office
from tests.events import T
from tests.factories import Claimed, an_office, claimed, released, submitted

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unsent")]


@st.composite
def graphs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Jobs with dependencies on earlier ones, and the outcome of each body."""
    drawn = []
    for number in range(draw(st.integers(1, 25))):
        deps = draw(st.lists(st.integers(0, number - 1), max_size=4, unique=True)) if number else []
        drawn.append(
            {
                "deps": deps,
                "policy": draw(st.sampled_from(["block", "fail", "run"])),
                "fails": draw(st.integers(0, 9)) < 3,
                "role": draw(st.sampled_from(["FE", "BE", "default"])),
                "priority": draw(st.sampled_from([1, 100, 500])),
            }
        )
    return drawn


def expected(graph: list[dict[str, Any]]) -> list[str]:
    ends: list[str] = []
    for job in graph:
        parents = [ends[dep] for dep in job["deps"]]
        bad, stuck = "failed" in parents, "pending" in parents
        if job["policy"] == "fail" and bad:
            ends.append("failed")
        elif stuck or (job["policy"] == "block" and bad):
            ends.append("pending")
        else:
            ends.append("failed" if job["fails"] else "done")
    return ends


class Chords:
    """Counts as Redis does: each dependency once, and the last one releases the join once."""

    def __init__(self, jobs: list[Job]) -> None:
        self.sizes = {str(job.id): job.dependency_count for job in jobs}
        self.parts: dict[str, set[str]] = {}

    def count(self, parts: Sequence[Sequence[Any]]) -> list[str]:
        full = []
        for join, parent, *_ in parts:
            seen = self.parts.setdefault(join, set())
            if parent not in seen:
                seen.add(parent)
                if len(seen) == self.sizes[join]:
                    full.append(join)
        return full


def run_graph(office: Office, graph: list[dict[str, Any]], jobs: list[Job], chance: random.Random) -> None:
    """Claims runs in any order and finishes them as the graph says, until none is dispatched."""
    place = {job.id: number for number, job in enumerate(jobs)}
    chords = Chords(jobs)
    by_id = {str(job.id): job for job in jobs}
    running: list[tuple[Job, Claimed | None]] = []
    while True:
        sent = Execution.objects.filter(office_id=office.id, status="PENDING").select_related("job")
        running += [(run.job, claimed(run.job, token=str(run.job_id))) for run in sent if run.job is not None]
        if not running:
            return
        job, run = running.pop(chance.randrange(len(running)))
        assert run is not None
        answer = run.fail() if graph[place[job.id]]["fails"] else run.finish()
        assert answer is not None
        for join in chords.count(answer.effects.parts):
            claim = released(by_id[join], token=join)
            running += [(by_id[join], claim)] if claim is not None else []


def check_order(office: Office, graph: list[dict[str, Any]], jobs: list[Job]) -> None:
    place = {job.id: number for number, job in enumerate(jobs)}
    over: dict[int, str] = {}
    for event in Event.objects.filter(office_id=office.id, job_id__isnull=False).order_by("id"):
        number = place[event.job_id]
        if event.type == T.JOB_STARTED:
            accepted = ("done", "failed") if graph[number]["policy"] == "run" else ("done",)
            assert all(over.get(dep) in accepted for dep in graph[number]["deps"])
        elif event.type in (T.JOB_COMPLETED, T.JOB_FAILED):
            assert number not in over, "it ended twice"
            over[number] = "done" if event.type == T.JOB_COMPLETED else "failed"


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(graph=graphs(), limit=st.integers(1, 6), seed=st.integers(0, 10**6))
def test_a_random_graph_ends_as_its_policies_say_without_any_sweep(
    graph: list[dict[str, Any]], limit: int, seed: int
) -> None:
    with transaction.atomic():
        office = an_office(max_concurrent_jobs=limit, max_concurrent_by_role={"FE": 1})
        jobs = submitted(
            office,
            *[
                {
                    "ref": str(number),
                    "depends_on": [str(dep) for dep in job["deps"]],
                    "on_dependency_failure": job["policy"],
                    "role": job["role"],
                    "priority": job["priority"],
                }
                for number, job in enumerate(graph)
            ],
        )
        run_graph(office, graph, jobs, random.Random(seed))
        ends = dict(Job.objects.filter(office=office).values_list("id", "status"))
        ends_of_graph = expected(graph)
        assert [ends[job.id] for job in jobs] == ends_of_graph
        assert lifecycle.advance_office(office.id) == AdvanceResult(0, 0), "a sweep had to help"
        check_order(office, graph, jobs)
        ran = set(Execution.objects.values_list("job_id", flat=True))
        failures = dict(Job.objects.filter(office=office).values_list("id", "failure_type"))
        for end, job in zip(ends_of_graph, jobs, strict=True):
            failed_with = failures[job.id] == FailureType.DEPENDENCY_FAILED
            assert (job.id not in ran) == (end == "pending" or failed_with)
        transaction.set_rollback(True)
