"""What becomes of each due time: run, skipped or missed.

Catch-up, for turns that nobody fired in time:

- `latest`: one run for all of them, the last.
- `none`: the last still runs if it is no later than the grace, which every ordinary tick is.
- `all`: every one runs.

Overlap "skip" drops a turn while the schedule's previous Execution has not ended, so with it even
`all` makes one run out of many missed turns, unless they end in between.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from scheduler.states import OccurrenceOutcome, Overlap

GRACE = timedelta(seconds=60)
STILL_RUNNING = "The previous Execution had not ended."
A_LATER_TURN = "A later turn was due as well."
TOO_LATE = f"It was more than {GRACE.seconds} s late."


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
    """Each due time with its turn and why. `following` is the due time after them."""
    to_run = turns_to_run(dues, following, now, CatchUp(catch_up))
    for due in dues:
        if due not in to_run:
            yield (
                due,
                OccurrenceOutcome.MISSED,
                TOO_LATE if due == dues[-1] and _is_past(due, now) else A_LATER_TURN,
            )
        elif previous_is_live and overlap == Overlap.SKIP:
            yield due, OccurrenceOutcome.SKIPPED, STILL_RUNNING
        else:
            previous_is_live = True
            yield due, OccurrenceOutcome.RUN, ""


def turns_to_run(
    dues: Sequence[datetime], following: datetime | None, now: datetime, policy: CatchUp
) -> list[datetime]:
    """Which of `dues` run; the others were missed."""
    if policy == CatchUp.ALL or not dues:
        return list(dues)
    a_later_one_is_due = following is not None and following <= now
    too_late = policy == CatchUp.NONE and _is_past(dues[-1], now)
    return [] if a_later_one_is_due or too_late else [dues[-1]]


def _is_past(due: datetime, now: datetime) -> bool:
    return now - due > GRACE
