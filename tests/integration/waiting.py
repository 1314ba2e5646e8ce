"""Waits for a condition, with a deadline, instead of sleeping."""

import time
from typing import Any


def wait_until(condition: Any, seconds: float = 60.0) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if result := condition():
            return result
        time.sleep(0.02)
    raise AssertionError(f"It did not come true within {seconds} s.")
