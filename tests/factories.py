"""Factories for rows in each state."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User

from jobs import lifecycle, submission
from jobs.answers import Claim, NextClaim, Settlement
from jobs.errors import Held
from jobs.models import Execution, Job, Membership, Office
from jobs.specs import ExecutionSpec
from jobs.sql import call
from jobs.states import MemberRole, Outcome, Trigger
from jobs.worker import registration

# What the end of a run may claim, in a burst.
NEXT_CLAIM = NextClaim(token="message:1", worker="w@test", roles=["default"], level=9)


def a_user(name: str = "alice", **fields: Any) -> User:
    user, _ = User.objects.get_or_create(username=name, defaults=fields)
    return user


def serve_roles(*roles: str, seconds: float = 10 * 365 * 86_400) -> None:
    """Roles that a worker serves; without a name those of every installation. There is no such worker."""
    call.change(
        "INSERT INTO served_roles SELECT role, now() + %s * interval '1 second' FROM unnest(%s) AS role "
        "ON CONFLICT (role) DO UPDATE SET until = EXCLUDED.until",
        [seconds, list(roles or settings.DURE_ROLES)],
    )


def unserve_roles(*roles: str) -> None:
    call.change("DELETE FROM served_roles WHERE role = ANY (%s)", [list(roles or settings.DURE_ROLES)])


def heartbeat(name: str, *roles: str, draining: bool = False) -> int:
    """Registers a worker, and returns how many entries of the catalogue it offers."""
    values = {"name": name, "roles": list(roles), "slots": 2, "running": 0, "started_at": 0}
    return registration.register({**values, "draining": draining})


def an_office(owner: User | None = None, **config: Any) -> Office:
    """An office, by default without limits by role. Workers serve its roles: see `serve_roles`."""
    config.setdefault("max_concurrent_by_role", {})
    serve_roles()
    office = Office.objects.create(name=config.pop("name", "test"), **config)
    if owner is not None:
        Membership.objects.create(office=office, user=owner, role=MemberRole.OWNER)
    return office


def resume_office(office: Office) -> None:
    Office.objects.filter(id=office.id).update(paused=False)
    lifecycle.advance_office(office.id)


def a_member(office: Office, name: str, role: str = MemberRole.VIEWER) -> User:
    """A user with this role in the office."""
    user = a_user(name)
    Membership.objects.create(office=office, user=user, role=role)
    return user


def submitted(office: Office, *jobs: dict[str, Any], **batch: Any) -> list[Job]:
    """Submits jobs and returns their rows, in the same order."""
    body: dict[str, Any] = {
        "jobs": [{"task_id": "demo.sum", "args": {"numbers": [1]}, **job} for job in jobs]
    }
    if batch:
        body["batch"] = batch
    ids = lifecycle.submit(submission.read(office, body))
    by_id = Job.objects.select_related("execution").in_bulk(ids)
    return [by_id[number] for number in ids]


def a_job(office: Office, **fields: Any) -> Job:
    return submitted(office, fields)[0]


def fresh(job: Job) -> Job:
    return Job.objects.select_related("execution").get(id=job.id)


def statuses(*jobs: Job) -> list[str]:
    return [fresh(job).status for job in jobs]


class Claimed:
    """A run that the test executes in place of a worker."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.execution = claim.execution_id
        self.fence = claim.fence
        self.trigger = claim.trigger

    def finish(self, outcome: str = Outcome.SUCCESS, **details: Any) -> Settlement | None:
        if outcome == Outcome.SUCCESS:
            details.setdefault("result", "null")
        return lifecycle.finish(self.execution, self.fence, outcome, trigger=self.trigger, **details)

    def fail(
        self,
        failure_type: str = "error",
        error: str = "broken",
        traceback: str = "",
        delay_ms: int | None = None,
    ) -> Any:
        details = {"failure_type": failure_type, "error": error, "traceback": traceback}
        return self.finish(Outcome.FAILURE, **details, delay_ms=delay_ms)

    def lose(self, *, expired: bool = False) -> Settlement | None:
        return lifecycle.mark_lost(
            self.execution, self.fence, trigger=self.trigger, expired=expired, error="gone"
        )


def claimed(job: Job, *, worker: str = "w@test", token: str = "t") -> Claimed | None:
    """Claims the job's current run; None if it cannot be claimed."""
    job = fresh(job)
    if job.execution is None:
        return None
    return claimed_start(job.execution.id, job.execution.dispatch, worker=worker, token=token)


def running(job: Job, *, worker: str = "w@test", token: str = "t") -> Claimed:
    """Claims the job's current run."""
    run = claimed(job, worker=worker, token=token)
    assert run is not None, "the job was not dispatched"
    return run


def done(job: Job) -> Job:
    assert running(job).finish() is not None
    return fresh(job)


def released(join: Job, *, token: str = "t") -> Claimed | None:
    """Claims the job as the message of its join does; None if it cannot be claimed, or not yet."""
    try:
        claim = lifecycle.claim_join(str(join.id), token=token, worker="w@test")
    except Held:
        return None
    return Claimed(claim) if claim is not None else None


def expire_lease(execution: str) -> None:
    """Lets the run's lease expire."""
    changed = call.change(
        "UPDATE job_executions SET locked_until = now() - interval '1 second' "
        "WHERE id = %s AND status = 'RUNNING'",
        [execution],
    )
    assert changed == 1


def a_start(**fields: Any) -> UUID:
    """An Execution that no job owns."""
    return starts(fields)[0]


def claimed_start(
    execution: object, dispatch: int = 1, *, worker: str = "w@test", token: str = "t"
) -> Claimed | None:
    """Claims a run by its id; None if it cannot be claimed."""
    claim = lifecycle.claim(str(execution), dispatch, token=token, worker=worker)
    return Claimed(claim) if claim is not None else None


def running_start(**fields: Any) -> Claimed:
    """A run that no job owns, claimed."""
    run = claimed_start(a_start(**fields))
    assert run is not None
    return run


def a_run_by_hand(user: str = "alice", **fields: Any) -> Execution:
    return Execution.objects.get(pk=a_start(source=str(a_user(user).pk), **fields))


def starts(*specs: dict[str, Any]) -> list[UUID]:
    """Executions that no job owns, started in one call."""
    made = [ExecutionSpec(**{**START, **fields}) for fields in specs]
    lifecycle.start_executions(made)
    return [spec.id for spec in made]


START: dict[str, Any] = {
    "task_id": "demo.sum",
    "role": "default",
    "trigger": Trigger.MANUAL,
    "args": {"numbers": [1]},
    "max_retries": 3,
    "retry_backoff": "exponential",
    "retry_base_delay_ms": 1000,
    "timeout_ms": 60_000,
    "on_lost": "retry",
}
