"""Helpers for real processes: which are alive, and waiting for a condition."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# A busy machine may take many times as long as a quiet one.
PATIENCE = 60.0
# Between two looks: a look may be a request, and slows down what it waits for.
FIRST_PAUSE, LONGEST_PAUSE = 0.01, 0.1


def eventually(condition: Callable[[], object], seconds: float = PATIENCE, pause: float = 0.0) -> Any:
    """Polls until `condition()` is true and returns it, or something false if it never is.

    It polls ever less often, unless a pause is given."""
    ends, wait = time.monotonic() + seconds, pause or FIRST_PAUSE
    while not (result := condition()) and time.monotonic() < ends:
        time.sleep(wait)
        wait = pause or min(wait * 1.2, LONGEST_PAUSE)
    return result


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # the latter while it is being removed
        return False
    return stat.rpartition(") ")[2][0] not in "ZX"


def processes_with_mark(mark: str) -> set[int]:
    """The living processes with the mark on their command line."""
    pids = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line and is_alive(int(entry.name)):
                pids.add(int(entry.name))
    return pids
