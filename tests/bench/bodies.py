"""A task that does nothing, so that a bench measures the engine only."""

import time

from jobs.context import Context
from jobs.registry import task


@task("bench.noop")
def noop(ctx: Context) -> None:
    """Does nothing."""


@task("bench.chatter")
def chatter(ctx: Context, lines: int, way: str) -> None:
    """Says many lines."""
    for number in range(lines):
        if way == "log":
            ctx.logger.warning(
                "line %s of a log, as long as such lines are, with an id %s", number, ctx.fence
            )
        else:
            print("line", number, "of a log, as long as such lines are, with an id", ctx.fence)
        if way == "work":
            end = time.perf_counter() + 0.0001
            while time.perf_counter() < end:
                pass
