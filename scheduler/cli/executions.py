"""Selects and formats the Executions of a command."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser
from django.db.models import QuerySet

from jobs.cli.command import add_choices, add_roles
from jobs.cli.filters import add_since, created_since, of_office
from jobs.cli.format import (
    as_text,
    attempts,
    cut,
    duration_between,
    duration_of,
    pairs,
    progress_text,
    section,
    table,
    traceback_lines,
)
from jobs.display import local_time
from jobs.models import Execution
from jobs.selection import narrow
from jobs.states import ExecutionStatus, Trigger

FILTERS = ("status", "office", "role", "task", "trigger", "schedule", "worker", "since")
HEADINGS = (
    "ID",
    "STATUS",
    "TRIGGER",
    "TASK",
    "ROLE",
    "ATTEMPT",
    "WORKER",
    "CREATED",
    "DURATION",
    "LAST MESSAGE",
)
NAME_WIDTH, MESSAGE_WIDTH = 24, 60


def add_filters(parser: CommandParser) -> None:
    add_choices(parser, "--status", ExecutionStatus.values, "states")
    parser.add_argument("--office", help="an office, by its id or its exact name")
    add_roles(parser)
    parser.add_argument("--task", metavar="TASK_ID", help="a Task")
    add_choices(parser, "--trigger", Trigger.values, "triggers")
    parser.add_argument("--schedule", type=UUID, metavar="ID", help="those that a schedule started")
    parser.add_argument("--worker", metavar="NAME", help="the worker that runs them, or ran them last")
    add_since(parser)


def matching_executions(options: dict[str, Any]) -> QuerySet[Execution]:
    executions = of_office(created_since(Execution.objects.all(), options), options)
    if options["schedule"]:
        executions = executions.filter(trigger=Trigger.SCHEDULE, source=str(options["schedule"]))
    lookups = {"status": "status__in", "role": "role__in", "task": "task_id", "trigger": "trigger__in"}
    return narrow(executions, options, lookups | {"worker": "worker"})


def rows(runs: Iterable[Execution], now: datetime) -> list[str]:
    return table(HEADINGS, [row(run, now) for run in runs])


def row(run: Execution, now: datetime) -> tuple[object, ...]:
    running = run.status == ExecutionStatus.RUNNING
    return (
        run.id,
        run.status,
        run.trigger,
        cut(run.task_id, NAME_WIDTH),
        run.role,
        run.attempt,
        cut(run.worker, NAME_WIDTH),
        local_time(run.created_at),
        duration_between(run.attempt_started_at, now if running else run.finished_at),
        cut(last_message(run), MESSAGE_WIDTH),
    )


def last_message(run: Execution) -> str:
    if run.status == ExecutionStatus.RUNNING:
        until = f"lease until {local_time(run.locked_until)}"
        return f"cancellation requested, {until}" if run.cancel_requested_at else until
    if run.status == ExecutionStatus.PENDING and run.due_at is not None:
        return f"due at {local_time(run.due_at)}"
    return f"{run.failure_type}: {run.error}" if run.error else run.failure_type


def page(run: Execution, now: datetime) -> list[str]:
    return [*pairs(facts(run)), *section("attempts", attempts([run], now)), *traceback_lines([run])]


def facts(run: Execution) -> list[tuple[str, object]]:
    return [
        ("execution", run.id),
        ("task", run.task_id),
        ("status", run.status),
        ("trigger", run.trigger),
        ("job", run.job_id),
        ("office", run.office_id),
        ("source", run.source),
        ("role", run.role),
        ("worker", run.worker),
        ("lease until", local_time(run.locked_until)),
        ("cancellation requested", local_time(run.cancel_requested_at)),
        ("due", local_time(run.due_at)),
        ("scheduled for", local_time(run.scheduled_for)),
        ("created", local_time(run.created_at)),
        ("sent", f"{local_time(run.sent_at)}, {run.sent_count} times" if run.dispatched_at else ""),
        ("started", local_time(run.started_at)),
        ("ended", local_time(run.finished_at)),
        ("retries", f"{run.retry_count} of {run.max_retries}, {run.crash_count} crashes"),
        ("timeout", duration_of(run.timeout_ms)),
        ("failure", run.failure_type),
        ("error", run.error),
        ("args", as_text(run.args)),
        ("result", as_text(run.result)),
        ("progress", progress_text(run)),
    ]
