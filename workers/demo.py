"""Tasks for trying things out: they wait, add numbers, and fail."""

import math
import time
from typing import Annotated

from pydantic import Field

from dure import Context, FailureType, InvalidArgs, TaskFailure, task

DAY = 86_400
TICK = 1.0

# The failure types that a body may report; only the engine sets the others.
FAILURES = tuple(
    kind
    for kind in FailureType
    if kind not in (FailureType.CANCELLED, FailureType.POISON, FailureType.DEPENDENCY_FAILED)
)


@task("demo.sleep")
def sleep(ctx: Context, seconds: Annotated[float, Field(ge=0, le=DAY)]) -> dict[str, float]:
    """Waits for the given number of seconds and reports its progress."""
    started = time.monotonic()
    # Sleep in short steps, for the progress; a cancel or a timeout interrupts any of them.
    while (left := seconds - (time.monotonic() - started)) > 0:
        time.sleep(min(left, TICK))
        if seconds > TICK:
            ctx.progress(min(1.0, (time.monotonic() - started) / seconds))
    return {"slept": seconds}


@task("demo.sum")
def add(ctx: Context, numbers: list[int | float]) -> int | float:
    """Adds numbers."""
    total = sum(numbers)
    if not math.isfinite(total):
        raise InvalidArgs("The sum is too large for a number.")
    return total


@task("demo.fail")
def fail(ctx: Context, message: str = "Failed as asked.", failure_type: str = FailureType.ERROR) -> None:
    """Fails every time, with the requested failure type."""
    if failure_type not in FAILURES:
        raise InvalidArgs(f"failure_type must be one of {', '.join(FAILURES)}.")
    raise TaskFailure(message, failure_type)


@task("demo.flaky")
def flaky(ctx: Context, failures: Annotated[int, Field(ge=0, le=1_000)]) -> dict[str, int]:
    """Fails the given number of times, then succeeds."""
    if ctx.attempt <= failures:
        raise TaskFailure(f"Attempt {ctx.attempt} fails; the first {failures} do.")
    return {"attempt": ctx.attempt}
