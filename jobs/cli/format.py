"""Jobs as operators read them: a row of a list, and a page of one."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from jobs import serialize
from jobs.api.explain import explanation_json
from jobs.cli.table import cut, pairs, table, titled
from jobs.cli.times import between, duration, shown
from jobs.insight.explain import Explanation, Reason
from jobs.models import Event, Execution, Job
from jobs.states import ExecutionStatus

HEADINGS = ("ID", "STATUS", "TASK", "ROLE", "PRIORITY", "OFFICE", "REF", "MADE", "LAST WORD")
LONGEST_NAME = 24
LONGEST_WORD = 60


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
        shown(job.created_at),
        cut(last_word(job), LONGEST_WORD),
    )


def last_word(job: Job) -> str:
    if job.failure_type:
        first = (job.error_message.splitlines() or [""])[0]
        return f"{job.failure_type}: {first}" if first else job.failure_type
    if job.execution is not None and job.execution.status == ExecutionStatus.RUNNING:
        return f"runs on {job.execution.worker} since {shown(job.execution.attempt_started_at)}"
    return ""


def page(
    job: Job, explained: Explanation, runs: Sequence[Execution], events: Sequence[Event], now: datetime
) -> list[str]:
    return [
        *pairs(facts(job)),
        *titled("why it is not done", why(explained)),
        *titled("runs", attempts(runs, now)),
        *titled("events, the newest first", told(events)),
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
        ("waits for", ", ".join(serialize.dependencies_of([job.id]).get(str(job.id), []))),
        ("made", shown(job.created_at)),
        ("started", shown(job.started_at)),
        ("ended", shown(job.completed_at)),
        ("took", between(job.started_at, job.completed_at)),
        ("retries", f"{job.retry_count} of {job.max_retries}"),
        ("time limit", seconds_of(job.timeout_ms)),
        ("failure", job.failure_type),
        ("error", job.error_message),
        ("args", as_text(job.args)),
        ("result", as_text(job.execution.result) if job.execution is not None else ""),
        ("progress", progress_of(job.execution)),
    ]


def why(explained: Explanation) -> list[str]:
    lines = [told_reason(reason) for reason in explained.reasons]
    if explained.queue_position:
        lines.append(f"It is number {explained.queue_position} of its office's ready jobs.")
    if explained.estimated_start:
        lines.append(f"It will probably start at {shown(explained.estimated_start)}.")
    return lines


def told_reason(reason: Reason) -> str:
    until = reason.facts.get("until") or reason.facts.get("lease_until") or reason.facts.get("since")
    if not isinstance(until, datetime):
        return reason.message
    word = next(name for name in ("until", "lease_until", "since") if reason.facts.get(name) is until)
    return f"{reason.message} ({word.replace('_', ' ')} {shown(until)})"


def attempts(runs: Sequence[Execution], now: datetime) -> list[str]:
    headings = ("RUN", "NO", "STARTED", "TOOK", "OUTCOME", "WORKER", "ERROR")
    found: list[tuple[object, ...]] = []
    for run in runs:
        for one in run.attempts.all():
            took = between(one.started_at, one.ended_at)
            error = cut(one.error, LONGEST_WORD)
            outcome = one.failure_type or one.outcome
            found.append((run.id, one.number, shown(one.started_at), took, outcome, one.worker, error))
        if run.status == ExecutionStatus.RUNNING:
            started = run.attempt_started_at
            took, until = between(started, now), f"lease until {shown(run.locked_until)}"
            found.append((run.id, run.attempt, shown(started), took, "running", run.worker, until))
    return table(headings, found) if found else []


def told(events: Sequence[Event]) -> list[str]:
    return [line for line in table(("", "", ""), [event_row(one) for one in events])[1:] if line]


def event_row(event: Event) -> tuple[str, str, str]:
    said = {
        name: event.details[name] for name in ("actor", "reason", "worker", "error") if name in event.details
    }
    words = ", ".join(f"{name} {cut(str(value), LONGEST_WORD)}" for name, value in said.items() if value)
    return shown(event.at), event.type, words


def document(job: Job, explained: Explanation, events: Sequence[Event]) -> dict[str, Any]:
    """The API's documents of a job in full, of its explanation and of its events, in one."""
    return {
        **serialize.job_detail_json(job),
        "explain": explanation_json(explained),
        "events": [serialize.event_json(event) for event in events],
    }


def as_text(value: Any) -> str:
    return "" if value in (None, {}) else json.dumps(value, ensure_ascii=False)


def seconds_of(milliseconds: int) -> str:
    return duration(milliseconds / 1000)


def progress_of(run: Execution | None) -> str:
    if run is None or not run.progress:
        return ""
    fraction, message = run.progress.get("fraction"), run.progress.get("message") or ""
    return f"{fraction:.0%} {message}".strip() if isinstance(fraction, (int, float)) else message
