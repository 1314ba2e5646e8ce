"""Decides the outcome of each due time: run, skipped or missed.

The catch-up policy applies to due times that no beat fired in time:

- `latest`: one run for all of them, the last.
- `none`: the last one runs if it is no later than the grace period, which every ordinary tick is.
- `all`: every one runs.

The overlap policy "skip" skips a due time while the schedule's previous Execution is live. With it, even
`all` makes one run out of many missed due times, unless runs end in between.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from scheduler.states import OccurrenceOutcome, Overlap

GRACE = timedelta(seconds=60)
# The reasons of occurrences that did not run: codes of error_texts.py.
STILL_RUNNING = "still_running"
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
    overlap: str,
    previous_is_live: bool,
) -> Iterator[tuple[datetime, OccurrenceOutcome, str]]:
    """Each due time with its outcome and the reason. `following` is the due time after them."""
    running = times_to_run(dues, following, now, CatchUp(catch_up))
    for due in dues:
        if due not in running:
            is_too_late = due == dues[-1] and _is_past(due, now)
            yield due, OccurrenceOutcome.MISSED, TOO_LATE if is_too_late else LATER_DUE
        elif previous_is_live and overlap == Overlap.SKIP:
            yield due, OccurrenceOutcome.SKIPPED, STILL_RUNNING
        else:
            previous_is_live = True
            yield due, OccurrenceOutcome.RUN, ""


def times_to_run(
    dues: Sequence[datetime], following: datetime | None, now: datetime, policy: CatchUp
) -> list[datetime]:
    """Which of `dues` run; the others were missed."""
    if policy == CatchUp.ALL or not dues:
        return list(dues)
    a_later_one_is_due = following is not None and following <= now
    is_too_late = policy == CatchUp.NONE and _is_past(dues[-1], now)
    return [] if a_later_one_is_due or is_too_late else [dues[-1]]


def _is_past(due: datetime, now: datetime) -> bool:
    return now - due > GRACE
