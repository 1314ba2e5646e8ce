"""The task of chaos runs: it writes a line to a witness file at each physical start and end."""

import os
import time

from jobs import lifecycle
from jobs.context import Context
from jobs.errors import TaskFailure
from jobs.registry import task

WITNESS = os.environ.get("CHAOS_WITNESS", "/dev/null")


def witness(ctx: Context, what: str) -> None:
    line = f"{what} {ctx.execution_id} {ctx.fence} {ctx.attempt} {os.getpid()} {time.time():.6f}\n"
    file = os.open(WITNESS, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)


@task("chaos.work", on_lost="retry")
def work(ctx: Context, seconds: float, failures: int = 0) -> dict[str, int]:
    """Works for some time, fails as often as requested, and returns the fence under which it succeeded."""
    witness(ctx, "start")
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.01)
    if ctx.attempt <= failures:
        witness(ctx, "failed")
        raise TaskFailure("Failed as planned.")
    witness(ctx, "end")
    return {"fence": ctx.fence}


if os.environ.get("CHAOS_BREAK") == "republish":
    # A deliberate breakage: lost messages are not published again.
    lifecycle.republish = lambda **_: 0
