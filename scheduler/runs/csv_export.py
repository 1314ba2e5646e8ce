"""Runs as lines of CSV for spreadsheets."""

import csv
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from scheduler.runs.rows import Run

MOST = 10_000
COLUMNS = (
    *("id", "name", "task", "state", "trigger", "office", "batch", "created", "started", "ended"),
    *("duration_seconds", "attempts", "worker", "failure_type", "error"),
)
# The first characters that make a spreadsheet execute a cell as a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
LONGEST = 2_000


class _Line:
    """What a csv.writer writes to: it returns the line."""

    def write(self, text: str) -> str:
        return text


def lines(runs: Iterable[Run]) -> Iterator[str]:
    write = csv.writer(_Line()).writerow
    # The mark by which spreadsheets recognise UTF-8.
    yield "\ufeff" + str(write(COLUMNS))
    for run in runs:
        yield str(write([cell(value) for value in _values(run)]))


def cell(value: Any) -> str:
    """The text of a value, never a formula."""
    text = value.isoformat() if isinstance(value, datetime) else str(value if value is not None else "")
    text = text[:LONGEST]
    return f"'{text}" if text.startswith(FORMULA) else text


def _values(run: Run) -> tuple[Any, ...]:
    job = run.job
    took = (run.ended_at - run.started_at).total_seconds() if run.started_at and run.ended_at else None
    return (
        *(run.id, run.name, run.task_id, run.state, run.trigger),
        job.office.name if job else "",
        job.batch.name or str(job.batch.id) if job and job.batch else "",
        *(run.created_at, run.started_at, run.ended_at, took),
        *(run.attempt, run.worker, run.failure_type, run.error),
    )
