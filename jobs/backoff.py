"""How long a retry waits. Pure arithmetic."""

import random

from jobs.states import Backoff

LONGEST_MS = 24 * 3_600_000


def delay_ms(
    strategy: str, base_ms: int, retry_count: int, *, longest_ms: int = LONGEST_MS, jitter: bool = False
) -> int:
    """1, 2, 3 × base for linear, 1, 2, 4 × base for exponential; `retry_count` counts from 0."""
    # Cap the exponent first: 2**1000 would be a large number to compute and then discard.
    factor = retry_count + 1 if strategy == Backoff.LINEAR else 2 ** min(retry_count, 32)
    delay = min(base_ms * factor, longest_ms)
    return random.randint(delay // 2, delay) if jitter else delay
