"""A message may go out before its submission is written, if the office was idle at the last one.

Its way to a worker's process takes as long as the submission, and so both go on at once. The submission and
the claim take the same lock, so the claim waits for a submission that is under way. A claim that comes before
it finds no Execution, and leaves a mark; the submission finds that, and sends the message again.

The message promises nothing: the office may be full by now, the submission refused, or its process dead. Then
there is nothing to claim. One submission right after another gains nothing: the claim would wait, and keep
the next submission waiting.
"""

import time
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from jobs import publish
from jobs.publish import Send

# An office counts as idle so long after a submission that found it so.
IDLE_SECONDS = (0.02, 60.0)
MOST_OFFICES = 1_000

# When the last submission found the office idle.
_idle_at: dict[UUID, float] = {}


def send(office: UUID, execution: UUID, job: Mapping[str, Any]) -> bool:
    """Send the message of a job that is about to be submitted, if it is likely to start at once."""
    first, last = IDLE_SECONDS
    is_likely = (
        first <= time.monotonic() - _idle_at.get(office, float("-inf")) < last
        and not job["dependency_count"]
        and job["run_at"] is None
        # The insertion waits for others that take the same key.
        and not job["unique_key"]
    )
    return is_likely and publish.send_messages(
        [Send(str(execution), 1, job["role"], job["task_id"], publish.LEVELS[0], 0)], early=True
    )


def remember(office: UUID, *, idle: bool) -> None:
    """What the submission that has just been written has found."""
    if len(_idle_at) >= MOST_OFFICES:
        _idle_at.clear()
    if idle:
        _idle_at[office] = time.monotonic()
    else:
        _idle_at.pop(office, None)
