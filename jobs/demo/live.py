"""The live work of the demonstration: a release in progress, a failed job, and one that waits for a retry."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from dure.failures import FailureType
from jobs import lifecycle, submission
from jobs.models import Job, Office
from jobs.states import Outcome
from jobs.worker import registration

RELEASE = "Release 2.0"
WORKER = "jobs@studio-1"
HALF_AN_HOUR_MS = 30 * 60_000


def step(ref: str, role: str, seconds: int, *after: str, **more: Any) -> dict[str, Any]:
    args = {"task_id": "demo.sleep", "args": {"seconds": seconds}}
    return {**args, "ref": ref, "role": role, "depends_on": list(after), **more}


STEPS = [
    step("requirements", "PO", 8),
    step("architecture", "Architect", 15, "requirements"),
    step("database", "BE", 25, "architecture"),
    step("api", "BE", 40, "database"),
    step("payments", "BE", 30, "database", priority=120),
    step("sign-in screen", "FE", 30, "architecture"),
    step("order screen", "FE", 45, "architecture"),
    step("admin screen", "FE", 25, "architecture", priority=150),
    step("api tests", "QA", 20, "api", "payments"),
    step("screen tests", "QA", 25, "sign-in screen", "order screen", "admin screen"),
    step("images", "DevOps", 15, "api", "payments", "order screen", "admin screen", "sign-in screen"),
    step("staging", "DevOps", 12, "images", "api tests", "screen tests"),
    step("smoke test", "QA", 10, "staging"),
    {
        "ref": "count the changes",
        "task_id": "demo.sum",
        "args": {"numbers": [12, 7, 31]},
        "role": "PO",
        "depends_on": ["staging"],
    },
    step("announce", "PO", 3, "smoke test", "count the changes", urgent=True),
]


def start_release(office: Office) -> None:
    """Submit a graph of jobs that takes some minutes."""
    body = {"batch": {"name": RELEASE}, "jobs": STEPS}
    lifecycle.submit(submission.read(office, body))


def create_failures(office: Office) -> None:
    """Submit a job that fails, and one that waits for its retry. No worker runs yet, so both fail here."""
    submit_and_fail(
        office,
        {
            "ref": "nightly backup",
            "task_id": "demo.fail",
            "role": "DevOps",
            "args": {"message": "Disk is full."},
        },
        failure_type=FailureType.PERMISSION_ERROR,
        error="The backup disk refuses writes.",
    )
    submit_and_fail(
        office,
        {"ref": "sync translations", "task_id": "demo.flaky", "role": "PO", "args": {"failures": 1}},
        failure_type=FailureType.SESSION_ERROR,
        error="The session was closed by the server.",
        delay_ms=HALF_AN_HOUR_MS,
    )


def submit_and_fail(office: Office, job: dict[str, Any], **failure: Any) -> None:
    with transaction.atomic(), demo_worker():
        (job_id,) = lifecycle.submit(submission.read(office, job))
        execution, dispatch = Job.objects.values_list("execution_id", "execution__dispatch").get(pk=job_id)
        if execution is not None:
            fail(execution, dispatch, **failure)


@contextmanager
def demo_worker() -> Iterator[None]:
    """Let a worker serve all roles for a moment: no worker runs yet, and without one nothing is sent."""
    values = {"name": WORKER, "roles": list(settings.DURE_ROLES), "slots": 1, "running": 0}
    registration.register({**values, "draining": False, "started_at": time.time()})
    yield
    registration.deregister(WORKER)


def fail(execution: UUID, dispatch: int, **failure: Any) -> None:
    """Claim and fail the run in the submission's transaction, so that its message finds nothing to claim."""
    claim = lifecycle.claim(str(execution), dispatch, token=f"demo:{execution}", worker=WORKER)
    if claim is not None:
        lifecycle.finish(str(execution), claim.fence, Outcome.FAILURE, trigger=claim.trigger, **failure)
