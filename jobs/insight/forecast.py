"""When jobs will probably start and end: a walk through the queue with the usual run times. Pure.

Assumes that nothing fails, that nothing new comes in, and that a worker is there for every slot. Where
a run time is not known, nothing is said about that job's end or about what waits for it or its slot.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any


@dataclass(frozen=True)
class Work:
    """A job that has not ended. Times are seconds from now."""

    id: Hashable
    role: str
    order: tuple[Any, ...]  # among ready jobs, the least starts first
    seconds: float | None  # how long its run takes; None: nobody knows
    parents: Collection[Hashable] = ()  # those that have not ended
    not_before: float = 0.0
    running_for: float | None = None  # None: it holds no slot yet
    blocked: bool = False  # somebody has to do something first


@dataclass(frozen=True)
class Span:
    start: float
    end: float | None


def forecast(
    works: Sequence[Work], slots: int, role_slots: Mapping[str, int], paused: bool = False
) -> dict[Hashable, Span]:
    """When each starts and ends; what is not in the answer cannot be told."""
    walk = _Walk(works, slots, role_slots)
    if not paused:
        walk.to_the_end()
    return walk.spans


class _Walk:
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
        # What happens when: ends of runs, and times that are waited for.
        self.future: list[tuple[float, int, str, Work]] = []
        self.ties = count()
        for work in self.works.values():
            self._enter(work)

    def _enter(self, work: Work) -> None:
        if work.running_for is not None:
            left = None if work.seconds is None else max(0.0, work.seconds - work.running_for)
            self._run(work, -work.running_for, left)
            return
        known = [parent for parent in work.parents if parent in self.works]
        self.waits[work.id] = len(known) + (len(known) < len(work.parents)) + work.blocked
        for parent in known:
            self.children[parent].append(work)
        if not self.waits[work.id]:
            self._free(work)

    def to_the_end(self) -> None:
        self._fill()
        while self.future:
            self.now = max(self.now, self.future[0][0])
            while self.future and self.future[0][0] <= self.now:
                _, _, what, work = heapq.heappop(self.future)
                if what == "due":
                    self._free(work)
                else:
                    self._end(work)
            self._fill()

    def _free(self, work: Work) -> None:
        if work.not_before > self.now:
            self._later(work.not_before, "due", work)
        else:
            heapq.heappush(self.ready[work.role], (work.order, next(self.ties), work))

    def _end(self, work: Work) -> None:
        self.used[work.role] -= 1
        for child in self.children[work.id]:
            self.waits[child.id] -= 1
            if not self.waits[child.id]:
                self._free(child)

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
            self._run(work, self.now, work.seconds)

    def _run(self, work: Work, start: float, left: float | None) -> None:
        self.used[work.role] += 1
        self.spans[work.id] = Span(start, None if left is None else self.now + left)
        # A run of unknown length keeps its slot, and those who wait for it, for as long as we can see.
        if left is not None:
            self._later(self.now + left, "end", work)

    def _later(self, when: float, what: str, work: Work) -> None:
        heapq.heappush(self.future, (when, next(self.ties), what, work))
