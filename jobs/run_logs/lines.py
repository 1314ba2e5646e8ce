"""The lines of a run's log, and the chunks in which they are stored.

The number of a line grows within an attempt, and `seq` names it within its Execution: the lines of a later
attempt follow those of an earlier one, and no two attempts can write the same line.
"""

import json
import logging
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from operator import itemgetter
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


# A line that waits to be stored: its time in seconds, level, stream, logger and message. A body may log many
# thousands of lines a second, and a plain tuple is made in a tenth of the time of a named one.
NewLine = tuple[float, int, str, str, str]


class Line(NamedTuple):
    """A stored line."""

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


def size_of(message: str) -> int:
    return len(message) + LINE_BYTES


def level_name(level: int) -> str:
    """The standard level at or below this number."""
    return next((name for name, number in reversed(LEVELS.items()) if level >= number), "DEBUG")


def level_number(name: str | None) -> int:
    """The number of a standard level; without a name, lower than all of them."""
    return LEVELS[name] if name else 0


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


def chunks(attempt: int, first: int, lines: Sequence[NewLine]) -> Iterator[Chunk]:
    """Chunks of consecutive lines; `first` is the number of the first."""
    ends = [0, *accumulate([len(line[4]) + LINE_BYTES for line in lines])]
    start = 0
    while start < len(lines):
        end = max(bisect_right(ends, ends[start] + LONGEST_CHUNK) - 1, start + 1)
        part = lines[start:end]
        yield Chunk(
            first=seq_of(attempt, first + start),
            last=seq_of(attempt, first + end - 1),
            level=max([line[1] for line in part]),
            size=ends[end] - ends[start],
            text=encode(part),
        )
        start = end


def encode(lines: Sequence[NewLine]) -> str:
    """The lines as JSON that PostgreSQL can store as text: first a time, to which those of lines are added.

    Consecutive lines of one kind have their times and messages in two lists: with level and names in each
    line, writing these took longer than writing the messages.
    """
    since = int(lines[0][0] * 1000)
    kinds: list[object] = []
    for (level, stream, logger), group in groupby(lines, itemgetter(1, 2, 3)):
        same = list(group)
        times = [int(line[0] * 1000) - since for line in same]
        kinds.append((level, STREAMS.index(stream), logger, times, [line[4] for line in same]))
    text = json.dumps([since, kinds], ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="replace").decode()


def decode(text: str) -> list[Line]:
    since, kinds = json.loads(text)
    return [
        Line(since + at, level, STREAMS[stream], logger, message)
        for level, stream, logger, times, messages in kinds
        for at, message in zip(times, messages, strict=True)
    ]
