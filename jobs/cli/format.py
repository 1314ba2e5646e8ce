"""How the commands print: tables that line up on a terminal, Korean included, and jobs as rows and pages."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from jobs import display, queries, serialize, texts
from jobs.api.explain import explanation_json
from jobs.display import local_time
from jobs.insight.explain import Explanation
from jobs.insight.reasons import Reason
from jobs.models import Event, Execution, Job
from jobs.states import ExecutionStatus

GAP = "  "
NOTHING = "-"
HEADINGS = ("ID", "STATUS", "TASK", "ROLE", "PRIORITY", "OFFICE", "REF", "CREATED", "LAST MESSAGE")
ATTEMPT_HEADINGS = ("RUN", "#", "STARTED", "DURATION", "OUTCOME", "WORKER", "ERROR")
EVENT_DETAILS = ("actor", "reason", "worker", "error")
LONGEST_NAME = 24
LONGEST_MESSAGE = 60

# --- tables ---------------------------------------------------------------------------------------


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """One line for the headings and one for each row, without blanks at the ends."""
    cells = [list(headings), *([plain(cell) for cell in row] for row in rows)]
    widths = [max(map(texts.width, column)) for column in zip(*cells, strict=True)]
    return [
        GAP.join(
            cell + " " * (width - texts.width(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in cells
    ]


def pairs(facts: Iterable[tuple[str, object]]) -> list[str]:
    """A name and a value on each line; what has no value is left out."""
    rows = [(name, plain(value)) for name, value in facts if value not in (None, "", [], {})]
    return table(("", ""), rows)[1:]


def section(title: str, lines: Sequence[str]) -> list[str]:
    """A part of a page with its title; nothing if it has no lines."""
    return ["", title, *(GAP + line for line in lines)] if lines else []


def plain(value: object) -> str:
    """A value on one line: what a tenant wrote must not reach the operator's terminal as a command."""
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return texts.on_one_line(str(value)).strip() or NOTHING


def cut(text: str, most: int) -> str:
    return texts.truncate(plain(text), most)


def count_text(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# --- jobs -----------------------------------------------------------------------------------------


def rows(jobs: Iterable[Job]) -> list[str]:
    return table(HEADINGS, [row(job) for job in jobs])


def row(job: Job) -> tuple[object, ...]:
    return (
        job.id,
        job.status,
        cut(job.task_id, LONGEST_NAME),
        job.role,
        f"urgent, {job.priority}" if job.urgent else job.priority,
        cut(job.office.name, LONGEST_NAME),
        cut(job.ref, LONGEST_NAME),
        local_time(job.created_at),
        cut(last_message(job), LONGEST_MESSAGE),
    )


def last_message(job: Job) -> str:
    if job.failure_type:
        error = texts.first_line(job.error_message)
        return f"{job.failure_type}: {error}" if error else job.failure_type
    if job.execution is not None and job.execution.status == ExecutionStatus.RUNNING:
        return f"runs on {job.execution.worker} since {local_time(job.execution.attempt_started_at)}"
    return ""


def page(
    job: Job, explained: Explanation, runs: Sequence[Execution], events: Sequence[Event], now: datetime
) -> list[str]:
    return [
        *pairs(facts(job)),
        *section("why it has not ended", reason_lines(explained)),
        *section("runs", attempts(runs, now)),
        *traceback_lines(runs),
        *section("events, newest first", event_lines(events)),
    ]


def facts(job: Job) -> list[tuple[str, object]]:
    return [
        ("job", job.id),
        ("ref", job.ref),
        ("task", job.task_id),
        ("status", job.status),
        ("office", f"{job.office.name} ({job.office_id})"),
        ("batch", job.batch_id),
        ("role", job.role),
        ("priority", f"{job.priority}, urgent" if job.urgent else job.priority),
        ("depends on", ", ".join(serialize.dependencies_of([job.id]).get(str(job.id), []))),
        ("created", local_time(job.created_at)),
        ("started", local_time(job.started_at)),
        ("ended", local_time(job.completed_at)),
        ("duration", duration_between(job.started_at, job.completed_at)),
        ("retries", f"{job.retry_count} of {job.max_retries}"),
        ("time limit", duration_of(job.timeout_ms)),
        ("failure", job.failure_type),
        ("error", job.error_message),
        ("args", as_text(job.args)),
        ("result", as_text(job.execution.result) if job.execution is not None else ""),
        ("progress", progress_text(job.execution)),
    ]


def reason_lines(explained: Explanation) -> list[str]:
    lines = [reason_line(reason) for reason in explained.reasons]
    if explained.queue_position:
        lines.append(f"Its queue position is {explained.queue_position}.")
    if explained.estimated_start:
        lines.append(f"Its estimated start is {local_time(explained.estimated_start)}.")
    return lines


def reason_line(reason: Reason) -> str:
    for name in ("until", "lease_until", "since"):
        if isinstance(moment := reason.facts.get(name), datetime):
            return f"{reason.message} ({name.replace('_', ' ')} {local_time(moment)})"
    return reason.message


def attempts(runs: Sequence[Execution], now: datetime) -> list[str]:
    lines: list[tuple[object, ...]] = []
    for run in runs:
        for attempt in queries.all_attempts(run):
            runs_on = f"lease until {local_time(run.locked_until)}" if attempt.ended_at is None else ""
            lines.append(
                (
                    run.id,
                    attempt.number,
                    local_time(attempt.started_at),
                    duration_between(attempt.started_at, attempt.ended_at or now),
                    "running" if runs_on else attempt.failure_type or attempt.outcome,
                    attempt.worker,
                    cut(runs_on or attempt.error, LONGEST_MESSAGE),
                )
            )
    return table(ATTEMPT_HEADINGS, lines) if lines else []


def traceback_lines(runs: Sequence[Execution]) -> list[str]:
    """The traceback of the newest attempt that has one."""
    for run in reversed(runs):
        for attempt in reversed(run.attempts.all()):
            if attempt.traceback:
                lines = [texts.on_one_line(line) for line in attempt.traceback.splitlines()]
                return section(f"traceback of attempt {attempt.number}", lines)
    return []


def event_lines(events: Sequence[Event]) -> list[str]:
    return table(("", "", ""), [event_row(event) for event in events])[1:]


def event_row(event: Event) -> tuple[str, str, str]:
    details = {name: event.details[name] for name in EVENT_DETAILS if event.details.get(name)}
    text = ", ".join(f"{name} {cut(str(value), LONGEST_MESSAGE)}" for name, value in details.items())
    return local_time(event.at), event.type, text


def document(job: Job, explained: Explanation, events: Sequence[Event]) -> dict[str, Any]:
    """The API's documents of a job, of its explanation and of its events in one."""
    return {
        **serialize.job_detail_json(job),
        "explain": explanation_json(explained),
        "events": [serialize.event_json(event) for event in events],
    }


def as_text(value: Any) -> str:
    return "" if value in (None, {}) else json.dumps(value, ensure_ascii=False)


def duration_between(start: datetime | None, end: datetime | None) -> str:
    return "" if start is None or end is None else display.duration((end - start).total_seconds())


def duration_of(milliseconds: int) -> str:
    return display.duration(milliseconds / 1000)


def progress_text(run: Execution | None) -> str:
    if run is None or not run.progress:
        return ""
    fraction, message = run.progress.get("fraction"), run.progress.get("message") or ""
    return f"{fraction:.0%} {message}".strip() if isinstance(fraction, (int, float)) else message
