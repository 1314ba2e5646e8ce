"""A short chaos run: servers and workers are killed and frozen at random, and every promise holds.

The long one is `make chaos`.
"""

import os
import subprocess
import sys

from tests.workers import ROOT

SEED = 11


def test_every_promise_holds_while_processes_are_killed():
    # It brings its own servers: these variables would point it at the suite's.
    env = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    run = subprocess.run(
        [sys.executable, "-m", "tests.chaos", "--jobs", "60", "--faults", "8", "--seed", str(SEED)],
        cwd=ROOT, env=env, capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-4_000:] + run.stderr[-4_000:]
    assert "0 violations" in run.stdout
    assert "8 faults" in run.stdout
