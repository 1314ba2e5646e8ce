"""What else than an office's own limits keeps a job from starting: its queue, its Task, and its workers."""

from collections.abc import Iterator
from datetime import datetime

from jobs.insight.offers import service_of
from jobs.insight.reasons import Code, Reason
from jobs.models import Job, PausedRole, TaskLimit, TaskStart
from jobs.states import JobStatus


def paused_queue(job: Job) -> Iterator[Reason]:
    for pause in PausedRole.objects.filter(role=job.role):
        facts = {"role": job.role, "since": pause.since, "by": pause.by, "why": pause.reason}
        reason = f": {pause.reason}" if pause.reason else "."
        yield Reason(Code.QUEUE_PAUSED, f"{pause.by} paused the queue {job.role}{reason}", facts)


def exclusive_run(job: Job) -> Iterator[Reason]:
    if not TaskLimit.objects.filter(task_id=job.task_id, exclusive=True).exists():
        return
    others = Job.objects.filter(office=job.office_id, task_id=job.task_id, status=JobStatus.PROCESSING)
    for other in others.exclude(pk=job.pk).select_related("execution"):
        run = other.execution
        facts = {
            "task_id": job.task_id,
            "jobs": [{"id": str(other.id), "ref": other.ref or None, "status": other.status}],
            "execution_id": run and str(run.id),
            "since": run and (run.attempt_started_at or run.dispatched_at),
        }
        message = f"The Task {job.task_id} has one run at a time in an office: {other} is first."
        yield Reason(Code.EXCLUSIVE_RUNNING, message, facts)


def rate_limit(job: Job, now: datetime) -> Iterator[Reason]:
    limit = TaskLimit.objects.filter(task_id=job.task_id, max_starts__isnull=False).first()
    if limit is None or not limit.max_starts or limit.period is None:
        return
    oldest = TaskStart.objects.filter(task_id=job.task_id, place=limit.started % limit.max_starts).first()
    if oldest is not None and oldest.at + limit.period > now:
        seconds = int(limit.period.total_seconds())
        until = oldest.at + limit.period
        facts = {"task_id": job.task_id, "limit": limit.max_starts, "seconds": seconds, "until": until}
        message = f"The Task {job.task_id} has {limit.max_starts} starts in {seconds} s at most."
        yield Reason(Code.RATE_LIMITED, message, facts)


def missing_worker(job: Job) -> Iterator[Reason]:
    service = service_of(job.task_id, job.role)
    if not service.role_is_served:
        message = f"No online worker serves the role {job.role}."
        yield Reason(Code.NO_WORKER_FOR_ROLE, message, {"role": job.role})
    elif not service.is_available:
        message = f"No online worker of the role {job.role} has the Task {job.task_id}."
        facts = {"task_id": job.task_id, "role": job.role, "seen_at": service.seen_at}
        yield Reason(Code.NO_WORKER_FOR_TASK, message, facts)
