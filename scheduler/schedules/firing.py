"""Fires what is due: for each due time one turn, and for each turn that runs one Execution.

Any number of beats call this at once. They share the due schedules by skip-locked rows, and the unique
(schedule, due time) decides; the turns, the Executions and the next times commit together or not at
all. So a beat that is killed at any point has either fired a turn completely or not touched it.

Not guaranteed: that a turn is fired on time. What is fired late is judged by the catch-up policy.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from jobs import lifecycle as engine
from jobs import registry
from jobs.models import Execution
from jobs.specs import ExecutionSpec
from jobs.sql import call
from jobs.states import EXECUTION_LIVE, Trigger
from scheduler import sql
from scheduler.models import Schedule
from scheduler.schedules.catchup import decide
from scheduler.schedules.rules import due_times
from scheduler.states import Turn

log = logging.getLogger(__name__)

SCHEDULES_AT_ONCE = 500
# How many missed turns of one schedule a pass writes; the rest stays due for the next.
TURNS_AT_ONCE = 200


@dataclass
class Fired:
    """What one pass did."""

    schedules: int = 0
    turns: dict[str, int] = field(default_factory=dict)

    def __add__(self, other: "Fired") -> "Fired":
        names = {*self.turns, *other.turns}
        both = {name: self.turns.get(name, 0) + other.turns.get(name, 0) for name in names}
        return Fired(self.schedules + other.schedules, both)


def fire_due(now: datetime, limit: int = SCHEDULES_AT_ONCE) -> Fired:
    """Fire at most `limit` due schedules; those that another beat is firing are left to it."""
    with transaction.atomic():
        due = list(
            Schedule.objects.select_for_update(skip_locked=True, no_key=True)
            .filter(next_run_at__lte=now)
            .order_by("next_run_at")[:limit]
        )
        if not due:
            return Fired()
        plans = _plan(due, now)
        turns = [turn for plan in plans for turn in plan.turns]
        new = {row[0] for row in call.rows(sql.DECIDE_TURNS, {"turns": call.as_json(turns), "now": now})}
        engine.start_executions([spec for plan in plans for spec in plan.specs if spec.id in new])
        advance = call.as_json([plan.advance for plan in plans])
        call.change(sql.ADVANCE_SCHEDULES, {"schedules": advance})
    fired = Fired(len(due), _count(turns))
    log.info("fired %s schedules: %s", fired.schedules, fired.turns)
    return fired


class _Plan:
    """One schedule's turns, the Executions they make, and how the schedule goes on."""

    def __init__(self, schedule: Schedule, following: datetime | None) -> None:
        self.schedule = schedule
        self.turns: list[dict[str, Any]] = []
        self.specs: list[ExecutionSpec] = []
        self.advance = {"id": str(schedule.id), "next_run_at": following and following.isoformat()}

    def add(self, when: datetime, turn: Turn, reason: str = "", execution: UUID | None = None) -> None:
        self.turns.append(
            {
                "schedule": str(self.schedule.id),
                "due_at": when.isoformat(),
                "turn": turn,
                "reason": reason[:200],
                "execution": execution and str(execution),
            }
        )

    def add_run(self, when: datetime, task: registry.Task) -> None:
        spec = ExecutionSpec.for_task(
            task,
            trigger=Trigger.SCHEDULE,
            source=str(self.schedule.id),
            args=self.schedule.args,
            max_retries=self.schedule.max_retries,
            scheduled_for=when,
        )
        self.add(when, Turn.RUN, execution=spec.id)
        self.specs.append(spec)
        self.advance |= {"execution": str(spec.id), "last_run_at": when.isoformat()}


def _plan(due: Sequence[Schedule], now: datetime) -> list[_Plan]:
    previous = [schedule.last_execution_id for schedule in due if schedule.last_execution_id]
    live = set(
        Execution.objects.filter(id__in=previous, status__in=EXECUTION_LIVE).values_list("id", flat=True)
    )
    return [_plan_safely(schedule, now, schedule.last_execution_id in live) for schedule in due]


def _plan_safely(schedule: Schedule, now: datetime, previous_is_live: bool) -> _Plan:
    try:
        return _plan_one(schedule, now, previous_is_live)
    except Exception:  # a row that somebody wrote past the checks must not stop all the others
        log.exception("schedule %s cannot be read and was put aside", schedule.id)
        return _Plan(schedule, None)


def _plan_one(schedule: Schedule, now: datetime, previous_is_live: bool) -> _Plan:
    first = schedule.next_run_at or now  # it was chosen by having one
    dues, following = due_times(schedule.rule, first, now, TURNS_AT_ONCE)
    plan = _Plan(schedule, following)
    try:
        task = registry.find(schedule.task_id)
    except registry.UnknownTask as unknown:
        # Somebody removed the code. Each turn says so, instead of an Execution that nobody can run.
        for when in dues:
            plan.add(when, Turn.MISSED, str(unknown))
        return plan
    policies = {"catch_up": schedule.catch_up, "overlap": schedule.overlap}
    for when, turn, reason in decide(dues, following, now, previous_is_live=previous_is_live, **policies):
        if turn == Turn.RUN:
            plan.add_run(when, task)
        else:
            plan.add(when, turn, reason)
    return plan


def _count(turns: Sequence[dict[str, Any]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for turn in turns:
        found[str(turn["turn"])] = found.get(turn["turn"], 0) + 1
    return found
