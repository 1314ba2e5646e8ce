"""Reads the logs of runs, in both directions from any line."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, NamedTuple
from uuid import UUID

from django.utils import timezone
from pydantic import AliasPath, Field

from jobs.api_model import AnyOf, ApiOut, TextOrNone, Time
from jobs.models import Execution, Job
from jobs.run_logs.lines import (
    LEVELS,
    LOG,
    MOST_LINES,
    STREAMS,
    Line,
    attempt_of,
    decode,
    level_name,
    seq_of,
)
from jobs.sql import call, run_logs

CHUNKS = 8
NEWEST = 2**63 - 1


class Entry(NamedTuple):
    """A line with its place in the log."""

    seq: int
    line: Line

    @property
    def attempt(self) -> int:
        return attempt_of(self.seq)

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.line.at / 1000, UTC)

    @property
    def level(self) -> str:
        return level_name(self.line.level)

    @property
    def origin(self) -> str:
        return self.line.logger if self.line.stream == LOG else self.line.stream


# A line as the API and the socket of a run's log have it.
class LogLineOut(ApiOut):
    seq: int = Field(description="Grows from line to line, and has gaps between attempts.")
    at: Time
    attempt: int
    level: Annotated[str, AnyOf(tuple(LEVELS))]
    stream: Annotated[str, AnyOf(STREAMS)] = Field(validation_alias=AliasPath("line", "stream"))
    logger: TextOrNone = Field(
        validation_alias=AliasPath("line", "logger"), description="Null for what was printed."
    )
    message: str = Field(validation_alias=AliasPath("line", "message"))


@dataclass(frozen=True)
class Selection:
    """Which lines of a run: of one attempt, of a level and above, with a text in them."""

    attempt: int | None = None
    level: int = 0
    text: str = ""

    def matches(self, line: Line) -> bool:
        return line.level >= self.level and self.text.casefold() in line.message.casefold()


ALL = Selection()


def lines_after(execution: UUID, after: int, limit: int, only: Selection = ALL) -> list[Entry]:
    """The first lines after that one."""
    return list(islice(entries(execution, only, after=after), limit))


def lines_before(execution: UUID, before: int, limit: int, only: Selection = ALL) -> list[Entry]:
    """The last lines before that one, in their order."""
    return list(islice(_entries(run_logs.BEFORE, execution, only, 0, before), limit))[::-1]


def entries(execution: UUID, only: Selection = ALL, *, after: int = 0) -> Iterator[Entry]:
    return _entries(run_logs.AFTER, execution, only, after, NEWEST)


def _entries(statement: str, execution: UUID, only: Selection, low: int, high: int) -> Iterator[Entry]:
    """The lines between these two, in the order of the statement."""
    if only.attempt is not None:
        low = max(low, seq_of(only.attempt, 0))
        high = min(high, seq_of(only.attempt + 1, 0))
    backwards = statement == run_logs.BEFORE
    first = high
    while True:
        values = {"execution": execution, "low": low, "high": high, "level": only.level, "limit": CHUNKS}
        chunks = call.rows(statement, values)
        for first, text in chunks:
            numbered = list(enumerate(decode(text), first))
            for seq, line in reversed(numbered) if backwards else numbered:
                if low < seq < high and only.matches(line):
                    yield Entry(seq, line)
        if len(chunks) < CHUNKS:
            return
        if backwards:
            high = first
        else:
            low = numbered[-1][0]


def cut_lines(run: Execution, only: Selection = ALL) -> dict[int, int]:
    """How many lines at the beginning of each attempt are not kept."""
    first, last = (1, run.attempt) if only.attempt is None else (only.attempt, only.attempt)
    values = {"execution": run.pk, "first": first, "last": last, "lines": MOST_LINES}
    cut = {attempt: oldest - seq_of(attempt, 1) for attempt, oldest in call.rows(run_logs.OLDEST, values)}
    return {attempt: count for attempt, count in cut.items() if count}


def latest_run(job: Job) -> Execution | None:
    return job.executions.order_by("created_at", "id").last()


def text_lines(run: Execution, only: Selection = ALL) -> Iterator[str]:
    """The log as text; each attempt begins with a note when its first lines were cut."""
    cut = cut_lines(run, only)
    attempt = 0
    for entry in entries(run.pk, only):
        if entry.attempt != attempt:
            attempt = entry.attempt
            if attempt in cut:
                yield cut_note(attempt, cut[attempt])
        yield text_of(entry)


def text_of(entry: Entry) -> str:
    at = timezone.localtime(entry.at).isoformat(sep=" ", timespec="milliseconds")
    return f"{at} {entry.attempt} {entry.level} {entry.origin}: {entry.line.message}\n"


def cut_note(attempt: int, count: int) -> str:
    return f"[attempt {attempt}: {count:,} lines before this one were not kept]\n"
