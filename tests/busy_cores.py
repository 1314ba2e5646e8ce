"""Two cores for the bursts of workers that import this module, and a Task that keeps one of them busy.

A message waits for a core for an hour: no pause of a busy machine ends that.
"""

import math
import time
from pathlib import Path

from dure import Context, task
from jobs import burst
from jobs.worker import bursts

burst.LONGEST_WAIT_SECONDS = 3_600
bursts.number_of_cores = lambda: 2


@task("try.keep_busy")
def keep_busy(ctx: Context, path: str) -> None:
    """Its process is as one that goes through short runs, until a file exists."""
    bursts.note_busy(math.inf)
    while not Path(path).exists():
        time.sleep(0.02)
