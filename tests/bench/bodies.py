"""A task that does nothing, so that a bench measures the engine only."""

import time

from dure import task
from jobs.context import RunContext


@task("bench.noop")
def noop(ctx: RunContext) -> None:
    """Does nothing."""


@task("bench.chatter")
def chatter(ctx: RunContext, lines: int, way: str) -> None:
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
