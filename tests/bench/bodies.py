"""A task that does nothing, so that a bench measures the engine only."""

from jobs.context import Context
from jobs.registry import task


@task("bench.noop")
def noop(ctx: Context) -> None:
    """Does nothing."""
