"""A message may go out before its submission is written, if the office was idle at the last one.

Its way to a worker's process takes as long as the submission, and so both go on at once. The submission and
the claim take the same lock, so the claim waits for a submission that is under way. A claim that comes before
it finds no Execution, and leaves a mark; the submission finds that, and sends the message again.

The message promises nothing: the office may be full by now, the submission refused, or its process dead. Then
there is nothing to claim. One submission right after another gains nothing: the claim would wait, and keep
the next submission waiting.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from jobs import publish
from jobs.effects import Effects
from jobs.publish import Send

# An office counts as idle so long after a submission that found it so.
IDLE_SECONDS = (0.02, 60.0)
MOST_OFFICES = 1_000

# When the last submission found the office idle.
_idle_at: dict[UUID, float] = {}


@contextmanager
def send(office: UUID, execution: UUID, job: Mapping[str, Any]) -> Iterator[bool]:
    """Send the message of a job that is submitted within this, if it is likely to start at once.

    Its submission does not wait for Redis' answer. If that is an error, the message is sent again.
    """
    message = Send(str(execution), 1, job["role"], job["task_id"], publish.LEVELS[0], 0)
    answer = publish.send_early(message) if _is_likely_to_start(office, job) else None
    has_arrived = True
    try:
        yield answer is not None
    finally:
        if answer is not None:
            has_arrived = publish.has_arrived(answer)
    if not has_arrived:
        Effects(send=[message]).apply()


def _is_likely_to_start(office: UUID, job: Mapping[str, Any]) -> bool:
    first, last = IDLE_SECONDS
    return (
        first <= time.monotonic() - _idle_at.get(office, float("-inf")) < last
        and not job["dependency_count"]
        and job["run_at"] is None
        # The insertion waits for others that take the same key.
        and not job["unique_key"]
    )


def remember(office: UUID, *, idle: bool) -> None:
    """What the submission that has just been written has found."""
    if len(_idle_at) >= MOST_OFFICES:
        _idle_at.clear()
    if idle:
        _idle_at[office] = time.monotonic()
    else:
        _idle_at.pop(office, None)
