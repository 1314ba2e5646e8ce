"""Fires due schedules: one occurrence for each due time, and one Execution for each occurrence that runs.

Any number of beats may call this at once. They share the due schedules by skip-locked rows, and the unique
(schedule, due time) makes each decision final. Occurrences, Executions and next times commit together, so
a beat that is killed at any point has either fired a due time completely or not at all.

Not guaranteed: that a schedule fires on time. The catch-up policy decides about late due times.
"""

import logging
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F

from jobs import catalogue
from jobs import lifecycle as engine
from jobs.known_tasks import KnownTask, UnknownTask
from jobs.models import Execution
from jobs.specs import ExecutionSpec
from jobs.sql import call
from jobs.states import EXECUTION_LIVE, Trigger
from scheduler import exclusion
from scheduler.exclusion import LiveRun, OwnedTask
from scheduler.models import Schedule
from scheduler.schedules import failing
from scheduler.schedules.calendars import Closures
from scheduler.schedules.catchup import (
    IN_CALENDAR,
    MANUAL_RUNNING,
    OTHER_SCHEDULE_RUNNING,
    STILL_RUNNING,
    decide,
)
from scheduler.schedules.execution_specs import spec_for
from scheduler.schedules.rules import due_times
from scheduler.sql import statements
from scheduler.states import OccurrenceOutcome, Overlap

log = logging.getLogger(__name__)

# Workers start the first runs of a herd while the next batch is decided.
BATCH = 100
# The most due times of one schedule that a call decides; the others stay due for the next call.
DUE_TIMES_PER_SCHEDULE = 200


@dataclass
class FiringResult:
    """How many schedules were fired, and how many occurrences have each outcome."""

    schedules: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: "FiringResult") -> "FiringResult":
        return FiringResult(self.schedules + other.schedules, self.outcomes + other.outcomes)


def fire_due(now: datetime, limit: int = BATCH) -> FiringResult:
    """Fire at most `limit` due schedules, except those that another beat has locked."""
    with transaction.atomic():
        due = list(
            Schedule.objects.select_for_update(skip_locked=True, no_key=True, of=("self",))
            .filter(next_run_at__lte=now)
            .select_related("calendar")
            # Of several at the same time, the one that has not run for longest goes first.
            .order_by("next_run_at", F("last_run_at").asc(nulls_first=True))[:limit]
        )
        pairs = exclusion.try_lock({pair for schedule in due if (pair := _owned_task(schedule))})
        # The others stay due: another process is starting a run of the same Task for their owner.
        due = [schedule for schedule in due if _owned_task(schedule) in {None, *pairs}]
        if not due:
            return FiringResult()
        decisions = _decide_all(due, pairs, now)
        occurrences = [row for decision in decisions for row in decision.occurrences]
        parameters = {"occurrences": call.as_json(occurrences), "now": now}
        inserted = {execution_id for (execution_id,) in call.rows(statements.INSERT_OCCURRENCES, parameters)}
        engine.start_executions(
            [spec for decision in decisions for spec in decision.specs if spec.id in inserted]
        )
        advance = call.as_json([decision.advance for decision in decisions])
        call.change(statements.ADVANCE_SCHEDULES, {"schedules": advance})
        if late := [each.schedule.id for each in decisions if each.notifies_missed]:
            failing.notify_failing(late, now)
    result = FiringResult(len(due), Counter(str(row["outcome"]) for row in occurrences))
    log.info("fired %s schedules: %s", result.schedules, dict(result.outcomes))
    return result


class _Decision:
    """The decision about a schedule: new occurrences and Executions, and the schedule's next state."""

    def __init__(self, schedule: Schedule, following: datetime | None) -> None:
        self.schedule = schedule
        self.occurrences: list[dict[str, Any]] = []
        self.specs: list[ExecutionSpec] = []
        self.advance: dict[str, Any] = {
            "id": str(schedule.id),
            "next_run_at": following and following.isoformat(),
            "missed": 0,
        }

    def add(
        self, due_at: datetime, outcome: OccurrenceOutcome, reason: str = "", execution: UUID | None = None
    ) -> None:
        self.occurrences.append(
            {
                "schedule": str(self.schedule.id),
                "due_at": due_at.isoformat(),
                "outcome": outcome,
                "reason": reason[:200],
                "execution": execution and str(execution),
            }
        )
        self.advance["missed"] += outcome == OccurrenceOutcome.MISSED

    @property
    def notifies_missed(self) -> bool:
        return self.schedule.notify_after_missed is not None and self.advance["missed"] > 0

    def add_run(self, due_at: datetime, task: KnownTask) -> None:
        spec = spec_for(
            self.schedule,
            task,
            trigger=Trigger.SCHEDULE,
            source=str(self.schedule.id),
            scheduled_for=due_at,
        )
        self.add(due_at, OccurrenceOutcome.RUN, execution=spec.id)
        self.specs.append(spec)
        self.advance |= {"execution": str(spec.id), "last_run_at": due_at.isoformat()}


def _decide_all(due: Sequence[Schedule], pairs: Collection[OwnedTask], now: datetime) -> list[_Decision]:
    previous = [schedule.last_execution_id for schedule in due if schedule.last_execution_id]
    live_runs = exclusion.live_runs(pairs)
    live = set(
        Execution.objects.filter(id__in=previous, status__in=EXECUTION_LIVE).values_list("id", flat=True)
    )
    decisions = []
    for schedule in due:
        pair = _owned_task(schedule)
        others = live_runs.setdefault(pair, []) if pair else []
        try:
            is_live = schedule.last_execution_id in live
            decision = _decide(schedule, now, STILL_RUNNING if is_live else _skip_reason(schedule, others))
        except Exception:  # a row that bypassed the checks must not stop the other schedules
            log.exception("schedule %s cannot be read; it has no next run any more", schedule.id)
            decision = _Decision(schedule, None)
        others += [LiveRun(spec.id, schedule.id) for spec in decision.specs]
        decisions.append(decision)
    return decisions


def _owned_task(schedule: Schedule) -> OwnedTask | None:
    """The pair that other runs of the Task lock too; none if the schedule takes no part in the exclusion."""
    if schedule.overlap != Overlap.SKIP:
        return None
    return exclusion.owner_of(schedule), schedule.task_id


def _skip_reason(schedule: Schedule, others: Sequence[LiveRun]) -> str:
    if any(run.schedule is None for run in others):
        return MANUAL_RUNNING
    return OTHER_SCHEDULE_RUNNING if any(run.schedule != schedule.id for run in others) else ""


def _decide(schedule: Schedule, now: datetime, skip_reason: str) -> _Decision:
    first = schedule.next_run_at or now  # never None: fire_due selects by it
    dues, following = due_times(schedule.rule, first, now, DUE_TIMES_PER_SCHEDULE)
    decision = _Decision(schedule, following)
    try:
        task = catalogue.find(schedule.task_id)
    except UnknownTask as unknown:
        # The Task's code was removed: each occurrence records that, and no Execution starts.
        for due_at in dues:
            decision.add(due_at, OccurrenceOutcome.MISSED, str(unknown))
        return decision
    closures = Closures(schedule.calendar) if schedule.calendar else None
    for due_at in [due_at for due_at in dues if closures and closures.include(due_at)]:
        decision.add(due_at, OccurrenceOutcome.SKIPPED, IN_CALENDAR)
        dues.remove(due_at)
    for due_at, outcome, reason in decide(
        dues,
        following,
        now,
        catch_up=schedule.catch_up,
        grace=timedelta(seconds=schedule.grace),
        overlap=schedule.overlap,
        skip_reason=skip_reason,
    ):
        if outcome == OccurrenceOutcome.RUN:
            decision.add_run(due_at, task)
        else:
            decision.add(due_at, outcome, reason)
    return decision
