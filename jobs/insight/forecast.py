"""When jobs will probably start and end, from a simulation of the queue with their usual run times.

It assumes that nothing fails, that no jobs are added, and that every slot has a worker. Where a run time is
not known, neither is the job's end, nor the start of what depends on it or on its slot.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from jobs.insight import stats
from jobs.models import Office
from jobs.sql import call, reports
from jobs.states import JobStatus, OnDependencyFailure

# With more jobs a forecast takes longer than it is worth.
MOST_JOBS = 20_000

# The start and the end of each job, by its id.
Times = dict[str, tuple[datetime, datetime | None]]


@dataclass(frozen=True)
class Work:
    """A job that has not ended. Times are seconds from now."""

    id: Hashable
    role: str
    order: tuple[Any, ...]  # among ready jobs, the least starts first
    seconds: float | None  # the usual length of its run; None: not known
    parents: Collection[Hashable] = ()  # those that have not ended
    not_before: float = 0.0
    running_for: float | None = None  # None: it holds no slot yet
    blocked: bool = False  # by a failed dependency


@dataclass(frozen=True)
class Span:
    start: float
    end: float | None


def forecast(
    works: Sequence[Work], slots: int, role_slots: Mapping[str, int], paused: bool = False
) -> dict[Hashable, Span]:
    """The start and the end of each job; a job whose start is not known is left out."""
    simulation = _Simulation(works, slots, role_slots)
    if not paused:
        simulation.run()
    return simulation.spans


class _Simulation:
    def __init__(self, works: Iterable[Work], slots: int, role_slots: Mapping[str, int]) -> None:
        self.works = {work.id: work for work in works}
        self.slots = slots
        self.role_slots = role_slots
        self.used: Counter[str] = Counter()
        self.now = 0.0
        self.spans: dict[Hashable, Span] = {}
        self.children: dict[Hashable, list[Work]] = defaultdict(list)
        self.waits: dict[Hashable, int] = {}
        self.ready: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        # Coming events: ends of runs, and times before which a job must not run.
        self.future: list[tuple[float, int, str, Work]] = []
        self.ties = count()
        for work in self.works.values():
            self._add(work)

    def _add(self, work: Work) -> None:
        if work.running_for is not None:
            left = None if work.seconds is None else max(0.0, work.seconds - work.running_for)
            self._start(work, -work.running_for, left)
            return
        live_parents = [parent for parent in work.parents if parent in self.works]
        self.waits[work.id] = len(live_parents) + (len(live_parents) < len(work.parents)) + work.blocked
        for parent in live_parents:
            self.children[parent].append(work)
        if not self.waits[work.id]:
            self._make_ready(work)

    def run(self) -> None:
        self._fill()
        while self.future:
            self.now = max(self.now, self.future[0][0])
            while self.future and self.future[0][0] <= self.now:
                _, _, event, work = heapq.heappop(self.future)
                if event == "due":
                    self._make_ready(work)
                else:
                    self._end(work)
            self._fill()

    def _make_ready(self, work: Work) -> None:
        if work.not_before > self.now:
            self._schedule(work.not_before, "due", work)
        else:
            heapq.heappush(self.ready[work.role], (work.order, next(self.ties), work))

    def _end(self, work: Work) -> None:
        self.used[work.role] -= 1
        for child in self.children[work.id]:
            self.waits[child.id] -= 1
            if not self.waits[child.id]:
                self._make_ready(child)

    def _fill(self) -> None:
        while self.used.total() < self.slots:
            open_roles = [
                role
                for role, queue in self.ready.items()
                if queue and self.used[role] < self.role_slots.get(role, self.slots)
            ]
            if not open_roles:
                return
            role = min(open_roles, key=lambda name: self.ready[name][0][:2])
            work = heapq.heappop(self.ready[role])[2]
            self._start(work, self.now, work.seconds)

    def _start(self, work: Work, start: float, left: float | None) -> None:
        self.used[work.role] += 1
        self.spans[work.id] = Span(start, None if left is None else self.now + left)
        # A run of unknown length keeps its slot, and blocks its dependents, to the end of the simulation.
        if left is not None:
            self._schedule(self.now + left, "end", work)

    def _schedule(self, at: float, event: str, work: Work) -> None:
        heapq.heappush(self.future, (at, next(self.ties), event, work))


def estimated_times(office: Office, now: datetime) -> Times:
    """The estimated start and end of the office's jobs that have not ended."""
    works = work_of_live_jobs(office, now)
    spans = forecast(works, office.max_concurrent_jobs, office.max_concurrent_by_role, office.paused)
    return {
        str(job): (
            now + timedelta(seconds=span.start),
            None if span.end is None else now + timedelta(seconds=span.end),
        )
        for job, span in spans.items()
    }


def work_of_live_jobs(office: Office, now: datetime) -> list[Work]:
    usual = stats.run_times(office.id)
    rows = call.rows(reports.LIVE_JOBS, {"office": office.id, "most": MOST_JOBS + 1})
    if len(rows) > MOST_JOBS:
        return []
    parents = {job: ids.split() for job, ids in call.rows(reports.PARENTS_OF_WAITING, {"office": office.id})}
    live = {row[0] for row in rows}
    ended = {parent for ids in parents.values() for parent in ids} - live
    not_done = {job for (job,) in call.rows(reports.NOT_DONE, {"jobs": list(ended)})} if ended else set()
    works = []
    for job, role, urgent, priority, seq, status, task_id, policy, due, started in rows:
        depends_on = parents.get(job, [])
        running_for = None
        if status == JobStatus.PROCESSING:
            # A run that was sent and not yet claimed counts as started.
            running_for = max(0.0, (now - started).total_seconds()) if started is not None else 0.0
        works.append(
            Work(
                id=job,
                role=role,
                order=(not urgent, priority, seq),
                seconds=usual.get(task_id),
                parents=[parent for parent in depends_on if parent in live],
                not_before=max(0.0, (due - now).total_seconds()) if due is not None else 0.0,
                running_for=running_for,
                blocked=policy != OnDependencyFailure.RUN and not not_done.isdisjoint(depends_on),
            )
        )
    return works
