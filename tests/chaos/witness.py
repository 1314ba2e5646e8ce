"""The witness file: a line for each physical start and end of a body, and for each program that it starts."""

from pathlib import Path
from typing import NamedTuple

from tests.lines import write_line


class Line(NamedTuple):
    what: str  # `start`, `failed`, `end` or `program`
    execution: str
    fence: int
    attempt: int
    pid: int  # of the process that runs the body, or of the program
    at: float


def write(path: str, line: Line) -> None:
    write_line(path, " ".join(map(str, line)))


def read(path: Path) -> list[Line]:
    texts = path.read_text().splitlines() if path.exists() else []
    return [_parse(*text.split()) for text in texts]


def _parse(what: str, execution: str, fence: str, attempt: str, pid: str, at: str) -> Line:
    return Line(what, execution, int(fence), int(attempt), int(pid), float(at))
