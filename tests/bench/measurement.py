"""What the benches have in common: how they wait, what they compute, and the settings of their workers."""

import time
from collections.abc import Callable
from pathlib import Path

# The times of an installation; those of the tests' workers are shorter.
CALM = {"DURE_LEASE_SECONDS": "30", "DURE_HEARTBEAT_SECONDS": "10", "DURE_REPUBLISH_SECONDS": "10"}
PATIENCE = 300.0


def poll(condition: Callable[[], bool], pause: float = 0.02) -> float:
    """Wait until it is true; the time of that moment."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise SystemExit("the work did not end in time")
        time.sleep(pause)
    return time.perf_counter()


def quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * q))]


def resident_mib(pid: int) -> float:
    """The memory that a process has now."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) / 1024
