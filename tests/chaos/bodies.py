"""The Tasks of chaos runs: their body writes a line to a witness file at each physical start and end."""

import os
import subprocess
import time

from dure import TaskFailure, task
from jobs import lifecycle
from jobs.context import RunContext
from tests.chaos import witness

WORK, EXCLUSIVE, LIMITED = "chaos.work", "chaos.exclusive", "chaos.limited"
# At most so many starts of LIMITED in a period of so many seconds.
MOST_STARTS, PERIOD = 2, 1.0
WITNESS = os.environ.get("CHAOS_WITNESS", "/dev/null")
# No program ends by itself within a chaos run.
PROGRAM = ("sleep", "86400")
# How a body starts a program: as its child, or as a daemon in a session of its own, without a parent.
STARTS = {
    "child": " ".join(("exec", *PROGRAM)),
    "daemon": " ".join(("setsid", *PROGRAM, ">/dev/null", "2>&1", "&", "echo", "$!")),
}


def record(ctx: RunContext, what: str, pid: int | None = None) -> None:
    line = witness.Line(what, ctx.execution_id, ctx.fence, ctx.attempt, pid or os.getpid(), time.time())
    witness.write(WITNESS, line)


def start_program(ctx: RunContext, kind: str) -> None:
    shell = subprocess.Popen(["sh", "-c", STARTS[kind]], stdout=subprocess.PIPE, text=True)
    pid = shell.pid if kind == "child" else int(shell.communicate()[0])
    record(ctx, "program", pid)


@task(LIMITED, on_lost="retry", retry_backoff=0.2, rate_limit=f"{MOST_STARTS}/s")
@task(EXCLUSIVE, on_lost="retry", retry_backoff=0.2, exclusive=True)
@task(WORK, on_lost="retry")
def work(ctx: RunContext, seconds: float, failures: int = 0, program: str = "") -> dict[str, int]:
    """Works for some time, fails as often as requested, and returns the fence under which it succeeded."""
    record(ctx, "start")
    if program:
        start_program(ctx, program)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.01)
    if ctx.attempt <= failures:
        record(ctx, "failed")
        raise TaskFailure("Failed as planned.")
    record(ctx, "end")
    return {"fence": ctx.fence}


if os.environ.get("CHAOS_BREAK") == "republish":
    # A deliberate breakage: lost messages are not published again.
    lifecycle.republish = lambda **_: 0
