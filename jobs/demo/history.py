"""Generates an hour of history: releases, each a graph of jobs, some of which failed."""

import json
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction

from dure.failures import FailureType
from jobs.ids import uuid7, uuid7_at
from jobs.models import Office
from jobs.sql import call, demo, statements
from jobs.states import EventType, ExecutionStatus, JobStatus, Outcome, Trigger

RELEASES = 15
MINUTES = 60.0
WORKERS = ("jobs@studio-1", "jobs@studio-2")


class Step(NamedTuple):
    ref: str
    role: str
    seconds: float
    after: tuple[str, ...] = ()


STEPS = (
    Step("requirements", "PO", 14),
    Step("architecture", "Architect", 22, ("requirements",)),
    Step("api", "BE", 31, ("architecture",)),
    Step("screens", "FE", 35, ("architecture",)),
    Step("api-tests", "QA", 18, ("api",)),
    Step("screen-tests", "QA", 21, ("screens",)),
    Step("images", "DevOps", 12, ("api", "screens")),
    Step("staging", "DevOps", 9, ("images", "api-tests", "screen-tests")),
    Step("smoke-test", "QA", 7, ("staging",)),
    Step("announce", "PO", 2, ("smoke-test",)),
)
# The failure type and error of the jobs that failed, by release and step.
FAILURES = {
    (2, "screen-tests"): (FailureType.ERROR, "AssertionError: expected 3 rows, found 2"),
    (6, "images"): (FailureType.GIT_CONFLICT, "CONFLICT (content): Merge conflict in deploy/values.yaml"),
    (9, "api"): (FailureType.TIMEOUT, "Job execution timed out"),
    (13, "staging"): (FailureType.PERMISSION_ERROR, "The deploy key may not write to staging."),
}

Row = dict[str, Any]


def write(office: Office, now: datetime) -> None:
    rng = random.Random(office.id.int)
    rows: list[Row] = []
    with transaction.atomic():
        # Every writer of events holds this lock, so that their ids grow in the order of commits.
        call.rows(statements.LOCK_OFFICE, [office.id])
        for number in range(RELEASES):
            submitted_at = now - timedelta(minutes=MINUTES * (RELEASES - number) / RELEASES)
            batch = uuid7_at(submitted_at)
            release = list(release_jobs(number, batch, submitted_at, rng))
            ended = max(row["ended_at"] for row in release)
            call.change(demo.INSERT_BATCH, [batch, office.id, f"Release 1.{number}", submitted_at, ended])
            rows += release
        events = [event for row in rows for event in job_events(row)]
        values = {
            "office": office.id,
            "trigger": Trigger.JOB.value,
            "jobs": json.dumps(rows, default=str),
            "events": json.dumps(events, default=str),
        }
        for statement in demo.IN_THIS_ORDER:
            call.change(statement, values)


def release_jobs(number: int, batch: UUID, submitted_at: datetime, rng: random.Random) -> Iterator[Row]:
    """The jobs of one release. Those after a failed job are cancelled."""
    rows_by_ref: dict[str, Row] = {}
    for place, step in enumerate(STEPS):
        parents = [rows_by_ref[ref] for ref in step.after]
        ready = max((parent["ended_at"] for parent in parents), default=submitted_at)
        started = ready + timedelta(seconds=rng.uniform(0.05, 1.5))
        ended = started + timedelta(seconds=step.seconds * rng.uniform(0.7, 1.4))
        row: Row = {
            "id": uuid7_at(submitted_at),
            "batch": batch,
            "place": number * len(STEPS) + place,
            "ref": step.ref,
            "role": step.role,
            "args": {"seconds": step.seconds},
            "parents": [parent["id"] for parent in parents],
            "worker": rng.choice(WORKERS),
            "created_at": submitted_at,
            "ready_at": ready,
            "failure_type": "",
            "error": "",
            "cancelled_at": None,
            "result": None,
        }
        if any(parent["status"] != JobStatus.DONE for parent in parents):
            row |= end_values(JobStatus.CANCELLED, None, None, ready, execution=None)
            row |= {"cancelled_at": ready, "failure_type": FailureType.CANCELLED}
        elif (number, step.ref) in FAILURES:
            failure, error = FAILURES[number, step.ref]
            outcome = Outcome.TIMEOUT if failure == FailureType.TIMEOUT else Outcome.FAILURE
            row |= end_values(JobStatus.FAILED, ExecutionStatus.FAILED, outcome, ended, started_at=started)
            row |= {"failure_type": failure, "error": error}
        else:
            row |= end_values(
                JobStatus.DONE, ExecutionStatus.SUCCESS, Outcome.SUCCESS, ended, started_at=started
            )
            row |= {"result": {"slept": step.seconds}}
        rows_by_ref[step.ref] = row
        yield row


def end_values(status: str, run: str | None, outcome: str | None, ended_at: datetime, **more: Any) -> Row:
    values = {"status": status, "run": run, "outcome": outcome, "ended_at": ended_at, "started_at": None}
    return {**values, "execution": uuid7(), **more}


def job_events(row: Row) -> Iterator[Row]:
    def event(kind: str, at: datetime, **details: Any) -> Row:
        return {"job": row["id"], "batch": row["batch"], "type": kind, "details": details, "at": at}

    if row["status"] == JobStatus.CANCELLED:
        yield event(
            EventType.JOB_CANCELLED, row["ended_at"], actor="alice", reason="The release is postponed."
        )
        return
    run = {"execution_id": row["execution"], "attempt": 1, "fence": 1}
    yield event(EventType.JOB_READY, row["ready_at"])
    yield event(EventType.JOB_STARTED, row["started_at"], **run, worker=row["worker"])
    if row["status"] == JobStatus.DONE:
        yield event(EventType.JOB_COMPLETED, row["ended_at"], **run)
    else:
        yield event(
            EventType.JOB_FAILED, row["ended_at"], **run, failure_type=row["failure_type"], error=row["error"]
        )
