"""Operations for tests: each does what its argument says, and leaves a note in the context."""

import os
import time
from pathlib import Path
from typing import Any

from dure import FailureType, StepRun, Stopped, TaskFailure, operation
from tests.step_model import FAIL, SUCCEED, TIME_OUT

LIBRARY = "testing"
# An optional file to which every start of an operation is written.
WITNESS = "DURE_TEST_WITNESS"


def behave(step: StepRun, tag: str, how: str) -> str:
    step.context.setdefault("notes", []).append(f"{tag} {step.direction}")
    if how == TIME_OUT:
        raise Stopped()
    if how != SUCCEED:
        raise TaskFailure(f"{tag} fails as asked", FailureType.ERROR)
    return f"{tag} did"


@operation(library=LIBRARY)
def do(step: StepRun, tag: str = "it", forward: str = SUCCEED) -> str:
    """Does something."""
    return behave(step, tag, forward)


@operation(library=LIBRARY, max_retries=0)
def undo(step: StepRun, tag: str = "it", backward: str = SUCCEED) -> str:
    """Undoes it."""
    return behave(step, tag, backward)


@operation(library=LIBRARY, max_retries=2)
def undo_stubbornly(step: StepRun, tag: str = "it", failures: int = 0) -> str:
    """Undoes it after so many failures."""
    return behave(step, tag, FAIL if step.attempt <= failures else SUCCEED)


@operation(library=LIBRARY)
def nothing(step: StepRun) -> None:
    """Does nothing at all."""


@operation(library=LIBRARY, role="QA")
def put(step: StepRun, value: Any = None, size: int = 0, odd: str = "") -> str:
    """Puts a value into the context that may exceed its size limit."""
    odds: dict[str, Any] = {
        "set": {1},
        "nan": float("nan"),
        "number": {1: 2},
        "nul": "a\0b",
        "half": "\ud800",
    }
    step.context["value"] = "x" * size if size else odds[odd] if odd else value
    return "put"


@operation(library=LIBRARY)
def give(step: StepRun, odd: str = "", size: int = 0) -> Any:
    """Returns a value that may not be valid JSON."""
    step.context["given"] = True
    return {"set": {1}, "": "x" * size}[odd]


@operation(library=LIBRARY)
def sleep(step: StepRun, seconds: float = 0.0, stubborn: bool = False) -> str:
    """Waits; a stubborn one has to be killed."""
    until = time.monotonic() + seconds
    step.context["slept"] = True
    while time.monotonic() < until:
        try:
            time.sleep(0.02)
        except Stopped:
            if not stubborn:
                raise
    return "slept"


@operation(library=LIBRARY)
def work(step: StepRun, tag: str, seconds: float = 0.0, fails: bool = False) -> str:
    """Writes its start to the shared file, works, and writes its end."""
    return witnessed(step, tag, seconds, fails)


@operation(library=LIBRARY, max_retries=1)
def unwork(step: StepRun, tag: str, seconds: float = 0.0, undo_fails: bool = False) -> str:
    """Does the same for the backward direction."""
    return witnessed(step, tag, seconds, undo_fails)


def witnessed(step: StepRun, tag: str, seconds: float, fails: bool) -> str:
    write(f"start {tag} {step.direction}")
    step.context[f"{tag} {step.direction}"] = step.context.get(f"{tag} {step.direction}", 0) + 1
    time.sleep(seconds)
    write(f"end {tag} {step.direction}")
    if fails:
        raise TaskFailure(f"{tag} fails as asked")
    return tag


def write(line: str) -> None:
    """Appends with one write, so that lines of several processes do not mix."""
    if path := os.environ.get(WITNESS):
        file = os.open(Path(path), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{line}\n".encode())
        os.close(file)
