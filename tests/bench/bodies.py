"""The Task that benches run: it does nothing, so that what is measured is ours."""

from jobs.context import Context
from jobs.registry import task


@task("bench.noop")
def noop(ctx: Context) -> None:
    """Does nothing."""
