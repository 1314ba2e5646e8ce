"""Decides the outcome of each due time: run, skipped or missed.

The catch-up policy applies to due times that no beat fired in time:

- `latest`: one run for all of them, the last.
- `none`: the last one runs if it is no later than the schedule's grace period.
- `all`: every one runs.

The overlap policy "skip" skips a due time while the schedule's previous Execution is live, or another run of
the Task for the same owner (exclusion.py). With it, even `all` makes one run out of many missed due times,
unless runs end in between.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from scheduler.states import OccurrenceOutcome, Overlap

DEFAULT_GRACE_SECONDS = 60
# The reasons of occurrences that did not run: codes of error_texts.py.
STILL_RUNNING = "still_running"
MANUAL_RUNNING = "manual_running"
OTHER_SCHEDULE_RUNNING = "other_schedule_running"
IN_CALENDAR = "in_calendar"
LATER_DUE = "later_due"
TOO_LATE = "too_late"


class CatchUp(StrEnum):
    LATEST = "latest"
    NONE = "none"
    ALL = "all"


def decide(
    dues: Sequence[datetime],
    following: datetime | None,
    now: datetime,
    *,
    catch_up: str,
    grace: timedelta,
    overlap: str,
    skip_reason: str,
) -> Iterator[tuple[datetime, OccurrenceOutcome, str]]:
    """Each due time with its outcome and the reason. `following` is the due time after them.

    `skip_reason` says which live run the schedule would overlap with; empty for none.
    """
    running = times_to_run(dues, following, now, CatchUp(catch_up), grace)
    for due in dues:
        if due not in running:
            is_too_late = due == dues[-1] and now - due > grace
            yield due, OccurrenceOutcome.MISSED, TOO_LATE if is_too_late else LATER_DUE
        elif skip_reason and overlap == Overlap.SKIP:
            yield due, OccurrenceOutcome.SKIPPED, skip_reason
        else:
            skip_reason = STILL_RUNNING
            yield due, OccurrenceOutcome.RUN, ""


def times_to_run(
    dues: Sequence[datetime],
    following: datetime | None,
    now: datetime,
    policy: CatchUp,
    grace: timedelta,
) -> list[datetime]:
    """Which of `dues` run; the others were missed."""
    if policy == CatchUp.ALL or not dues:
        return list(dues)
    a_later_one_is_due = following is not None and following <= now
    is_too_late = policy == CatchUp.NONE and now - dues[-1] > grace
    return [] if a_later_one_is_due or is_too_late else [dues[-1]]
