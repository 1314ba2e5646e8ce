"""The lines of a run's log, and the chunks in which they are stored.

The number of a line grows within an attempt, and `seq` names it within its Execution: the lines of a later
attempt follow those of an earlier one, and no two attempts can write the same line.
"""

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

LOG, STDOUT, STDERR = STREAMS = ("log", "stdout", "stderr")
LEVELS = {
    name: logging.getLevelNamesMapping()[name] for name in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
}
# Programs print progress and warnings to stderr.
LEVEL_OF_OUTPUT = {STDOUT: logging.INFO, STDERR: logging.WARNING}
LONGEST_LINE = 16 * 1024
LONGEST_CHUNK = 64 * 1024
# What a line costs beside its text.
LINE_BYTES = 16
MOST_LINES = 1_000_000_000


class Line(NamedTuple):
    at: int  # milliseconds
    level: int
    stream: str
    logger: str
    message: str


class Chunk(NamedTuple):
    """Consecutive lines of an attempt, as they are stored."""

    first: int
    last: int
    level: int
    size: int
    text: str


def seq_of(attempt: int, number: int) -> int:
    return attempt * MOST_LINES + number


def attempt_of(seq: int) -> int:
    return seq // MOST_LINES


def size_of(line: Line) -> int:
    return len(line.message) + LINE_BYTES


def level_name(level: int) -> str:
    """The standard level at or below this number."""
    return next((name for name, number in reversed(LEVELS.items()) if level >= number), "DEBUG")


def pieces(text: str) -> Iterator[str]:
    """A long line in parts, cut at a blank if there is one, so that no word is cut in two."""
    while len(text) > LONGEST_LINE:
        cut = text.rfind(" ", LONGEST_LINE // 2, LONGEST_LINE) + 1 or LONGEST_LINE
        yield text[:cut]
        text = text[cut:]
    yield text


class LineSplitter:
    """Splits text that arrives in parts into lines. A carriage return ends a line too: a progress bar."""

    def __init__(self) -> None:
        self.rest = ""

    def feed(self, text: str) -> list[str]:
        ends = "\n" in text or "\r" in text or self.rest.endswith("\r")
        if not ends and len(self.rest) + len(text) < LONGEST_LINE:
            self.rest += text
            return []
        text = self.rest + text
        # The other half of the line end may follow.
        held = "\r" if text.endswith("\r") else ""
        text = text.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n")
        *lines, rest = text.split("\n")
        if len(rest) >= LONGEST_LINE:
            *parts, rest = pieces(rest)
            lines += parts
        self.rest = rest + held
        return lines

    def flush(self) -> list[str]:
        rest, self.rest = self.rest.removesuffix("\r"), ""
        return [rest] if rest else []


def chunks(attempt: int, numbered: Sequence[tuple[int, Line]]) -> Iterator[Chunk]:
    """Chunks of lines without a gap between them."""
    start, size = 0, 0
    for place, (number, line) in enumerate(numbered):
        is_gap = place > start and number != numbered[place - 1][0] + 1
        if place > start and (is_gap or size + size_of(line) > LONGEST_CHUNK):
            yield _chunk(attempt, numbered[start:place], size)
            start, size = place, 0
        size += size_of(line)
    if start < len(numbered):
        yield _chunk(attempt, numbered[start:], size)


def _chunk(attempt: int, numbered: Sequence[tuple[int, Line]], size: int) -> Chunk:
    lines = [line for _, line in numbered]
    return Chunk(
        first=seq_of(attempt, numbered[0][0]),
        last=seq_of(attempt, numbered[-1][0]),
        level=max(line.level for line in lines),
        size=size,
        text=encode(lines),
    )


def encode(lines: Iterable[Line]) -> str:
    """The lines as JSON that PostgreSQL can store as text."""
    text = json.dumps(
        [(line.at, line.level, STREAMS.index(line.stream), line.logger, line.message) for line in lines],
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return text.encode(errors="replace").decode()


def decode(text: str) -> list[Line]:
    return [
        Line(at, level, STREAMS[stream], logger, message)
        for at, level, stream, logger, message in json.loads(text)
    ]
