"""Sends what this worker lacks the code for to another worker of its role."""

import random
from typing import Any

from jobs import publish

# Until a worker takes it that has the code, it comes around this often. Redis gives a message to the worker
# that has waited longest, and each waits a second at a time: with a pause that is always the same, the same
# worker could get it every time.
PAUSE_SECONDS = (0.05, 1.0)


def send_later(timer: Any, send: publish.Send, early: bool = False) -> None:
    """Send it again after a moment. If this worker dies before, the sweep does so."""
    timer.call_after(random.uniform(*PAUSE_SECONDS), publish.send_messages, ([send], early))
