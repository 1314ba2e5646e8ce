"""Explains why a job does not run now: all its reasons at once, the decisive one first."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from django.db.models import Count, Q

from dure.failures import RETRYABLE, FailureType
from jobs.display import REMEDIES
from jobs.errors import in_english
from jobs.insight.conditions import exclusive_run, missing_worker, paused_queue, rate_limit
from jobs.insight.forecast import estimated_times
from jobs.insight.reasons import Code, Reason, Why
from jobs.models import Dependency, Execution, Job, Office
from jobs.states import JOB_ENDED, JOB_WAITING, ExecutionStatus, JobStatus, OnDependencyFailure

MOST_PARENTS = 20


@dataclass(frozen=True)
class Explanation:
    state: str
    reasons: list[Reason]
    queue_position: int | None
    estimated_start: datetime | None


def explain(office: Office, job: Job, now: datetime) -> Explanation:
    return Explanation(
        state=job.status,
        reasons=list(reasons_of(office, job, now)),
        queue_position=queue_position(job) if job.status == JobStatus.READY else None,
        estimated_start=estimated_start(office, job, now),
    )


def reasons_of(office: Office, job: Job, now: datetime) -> Iterator[Reason]:
    """Ordered by how long each reason usually lasts: what needs a person comes first."""
    if job.status in JOB_ENDED:
        if job.failure_type == FailureType.DEPENDENCY_FAILED:
            yield from failed_dependencies(job)
        elif job.status == JobStatus.FAILED:
            yield final_failure(office, job)
    elif job.status == JobStatus.PROCESSING:
        yield from run_reasons(job)
    else:
        if job.status in JOB_WAITING:
            if job.on_dependency_failure != OnDependencyFailure.RUN:
                yield from failed_dependencies(job)
            yield from unfinished_dependencies(job)
            yield from time_reasons(job, now)
        if office.paused:
            yield Reason(Code.OFFICE_PAUSED, "The office is paused: nothing new starts in it.", {})
        yield from paused_queue(job)
        yield from missing_worker(job)
        yield from exclusive_run(job)
        yield from rate_limit(job, now)
        yield from limits(office, job)
        if job.status == JobStatus.READY:
            yield from queue_timeout(job)


def failed_dependencies(job: Job) -> Iterator[Reason]:
    failed = parents(job, Q(status__in=(JobStatus.FAILED, JobStatus.CANCELLED)))
    if failed:
        yield Reason(
            Code.DEPENDENCY_FAILED,
            f"{names(failed)} failed or was cancelled: retry it, or cancel this one.",
            job_facts(failed),
        )


def unfinished_dependencies(job: Job) -> Iterator[Reason]:
    unfinished = parents(job, ~Q(status__in=JOB_ENDED))
    if unfinished:
        yield Reason(Code.DEPENDENCIES_UNFINISHED, f"Waits for {names(unfinished)}.", job_facts(unfinished))


def parents(job: Job, condition: Q) -> list[Job]:
    edges = Dependency.objects.filter(job=job).values("parent_id")
    return list(
        Job.objects.filter(condition, pk__in=edges).only("id", "ref", "status", "seq").order_by("seq")
    )


def names(jobs: list[Job]) -> str:
    listed = ", ".join(str(job) for job in jobs[:3])
    return listed if len(jobs) <= 3 else f"{listed} and {len(jobs) - 3} more"


def job_facts(jobs: list[Job]) -> dict[str, Any]:
    listed = jobs[:MOST_PARENTS]
    facts = [{"id": str(job.id), "ref": job.ref or None, "status": job.status} for job in listed]
    return {"jobs": facts, "count": len(jobs)}


def final_failure(office: Office, job: Job) -> Reason:
    """Why no attempt follows, and what to do."""
    if job.failure_type == FailureType.TIMEOUT and not has_started(job):
        why = Why.QUEUE_TIMEOUT
    elif job.failure_type not in RETRYABLE:
        why = Why.FAILURE_TYPE
    elif job.failure_type not in office.retryable_failures:
        why = Why.OFFICE
    elif job.retry_count >= job.max_retries:
        why = Why.RETRIES_USED
    else:
        why = Why.TASK
    remedy = REMEDIES.get(job.failure_type)
    facts = {
        "failure_type": job.failure_type,
        "why": why.value,
        "retry_count": job.retry_count,
        "max_retries": job.max_retries,
        "remedy": in_english(remedy) if remedy else None,
    }
    message = f"{in_english(why.label)} {facts['remedy'] or ''}".strip()
    return Reason(Code.NOT_RETRIED, message, facts)


def has_started(job: Job) -> bool:
    """Whether an attempt has begun since it last became ready."""
    began = job.execution.attempt_started_at if job.execution else None
    return began is not None and (job.ready_at is None or began >= job.ready_at)


def time_reasons(job: Job, now: datetime) -> Iterator[Reason]:
    if job.retry_at is not None and job.retry_at > now:
        facts = {"until": job.retry_at, "retry_count": job.retry_count, "max_retries": job.max_retries}
        yield Reason(Code.RETRY_BACKOFF, "Waits for its next attempt.", facts)
    if job.run_at is not None and job.run_at > now:
        yield Reason(Code.SCHEDULED, "Does not run before its scheduled time.", {"until": job.run_at})


def queue_timeout(job: Job) -> Iterator[Reason]:
    if job.queue_timeout_at is not None:
        facts = {"until": job.queue_timeout_at}
        yield Reason(Code.QUEUE_TIMEOUT, "Fails unless it has started by then.", facts)


def limits(office: Office, job: Job) -> Iterator[Reason]:
    """A limit of 0 comes first, since no end of a run changes it."""
    processing = Job.objects.filter(office=office, status=JobStatus.PROCESSING)
    used = processing.aggregate(all=Count("id"), role=Count("id", filter=Q(role=job.role)))
    limit = office.max_concurrent_by_role.get(job.role)
    if limit == 0:
        message = f"The office allows no jobs of the role {job.role}: its limit is 0."
        yield Reason(Code.ROLE_LIMIT, message, {"role": job.role, "running": used["role"], "limit": 0})
    if used["all"] >= office.max_concurrent_jobs:
        facts = {"running": used["all"], "limit": office.max_concurrent_jobs}
        message = f"{facts['running']} jobs are processing; the office allows {facts['limit']}."
        yield Reason(Code.OFFICE_LIMIT, message, facts)
    if limit and used["role"] >= limit:
        message = f"{used['role']} jobs of the role {job.role} are processing; the office allows {limit}."
        yield Reason(Code.ROLE_LIMIT, message, {"role": job.role, "running": used["role"], "limit": limit})


def run_reasons(job: Job) -> Iterator[Reason]:
    run = job.execution and Execution.objects.filter(pk=job.execution.pk).first()
    if run is None:
        return
    if run.status == ExecutionStatus.RUNNING:
        facts = {
            "worker": run.worker,
            "since": run.attempt_started_at,
            "lease_until": run.locked_until,
            "attempt": run.attempt,
            "cancelling": run.cancel_requested_at is not None,
        }
        stopping = " Cancellation was requested." if run.cancel_requested_at else ""
        yield Reason(Code.RUNNING, f"Runs on {run.worker}.{stopping}", facts)
        return
    yield from paused_queue(job)
    yield from missing_worker(job)
    facts = {"since": run.dispatched_at, "sent": run.sent_count}
    yield Reason(Code.WAITING_FOR_WORKER, "Was sent to the workers; not picked up yet.", facts)
    yield from queue_timeout(job)


def queue_position(job: Job) -> int:
    """The position among the office's queued jobs; 1 is next."""
    earlier = Q(priority__lt=job.priority) | Q(priority=job.priority, seq__lt=job.seq)
    ahead = Q(urgent=job.urgent) & earlier
    if not job.urgent:
        ahead |= Q(urgent=True)
    return Job.objects.filter(ahead, office_id=job.office_id, status=JobStatus.READY).count() + 1


def estimated_start(office: Office, job: Job, now: datetime) -> datetime | None:
    """The estimated start; None if it is unknown or the job has started."""
    if job.status in JOB_ENDED or job.status == JobStatus.PROCESSING:
        return None
    blocking = chain(paused_queue(job), missing_worker(job), exclusive_run(job), rate_limit(job, now))
    if next(blocking, None) is not None:
        return None
    times = estimated_times(office, now)
    return times[str(job.id)][0] if str(job.id) in times else None
