"""Creates jobs and step queues, enqueues, moves and removes jobs, copies queues, and deletes both."""

from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from jobs import activity
from jobs.errors import Conflict, ErrorText, Invalid
from jobs.models import Office
from jobs.notifications import signing, webhooks
from jobs.sql import call
from jobs.states import Act
from scheduler.steps import sql
from scheduler.steps.job_checks import check_job, check_library
from scheduler.steps.models import Step, StepQueue
from scheduler.steps.states import HEAD, TAIL, UNINIT, JobState, QueueState

# The fields of a job that a copy takes over.
COPIED_FIELDS = (
    "forward_operation", "backward_operation", "arguments", "operation_library", "expired_time",
    "undo_retries",
)  # fmt: skip
# The fields of a queue that follow from its jobs.
LINK_FIELDS = ("job_number", "state", "job_queue", "last_job")
# The fields that the enqueuing of a job that exists sets.
ENQUEUED_FIELDS = ("queue", "number", "owner", "prev_job", "next_job", "operation_library", "state")


def create(values: Mapping[str, Any], *, owner: User, office: Office | None, now: datetime) -> StepQueue:
    """Create an EMPTY queue; with a callback URL also the secret that signs its messages."""
    check_library("queue_library", values.get("queue_library", UNINIT))
    queue = StepQueue(owner=owner, office=office, created_at=now, **values)
    if queue.callback_url:
        _check_callback(queue.callback_url)
        queue.callback_secret = signing.new_secret()
    with transaction.atomic():
        queue.save(force_insert=True)
        record(Act.STEP_QUEUE_CREATED, queue)
    return queue


def copy(
    source_id: int, *, owner: User, name: str, now: datetime, started_by: UUID | None = None
) -> StepQueue:
    """Create a queue with the same library, office, callback and jobs, none of which has run.

    A copy that a run makes has the source's callback secret too, since nobody is shown a new one.
    """
    with transaction.atomic():
        # With the lock, no job is enqueued while they are copied.
        source = StepQueue.objects.select_for_update(no_key=True).get(pk=source_id)
        values = {"queue_library": source.queue_library, "callback_url": source.callback_url, "name": name}
        queue = create(values | {"started_by": started_by}, owner=owner, office=source.office, now=now)
        if started_by is not None and queue.callback_url:
            queue.callback_secret = source.callback_secret
            queue.save(update_fields=["callback_secret"])
        steps = [
            Step(queue=queue, number=step.number, **{field: getattr(step, field) for field in COPIED_FIELDS})
            for step in source.steps.order_by("number")
        ]
        for step in steps:
            step.prev_job, step.next_job, step.state = HEAD, TAIL, _first_state(step)
        for before, after in pairwise(steps):
            before.next_job, after.prev_job = str(after.job_id), str(before.job_id)
        if steps:
            Step.objects.bulk_create(steps)
            queue.state, queue.job_number = QueueState.READY, len(steps)
            queue.job_queue, queue.last_job = str(steps[0].job_id), str(steps[-1].job_id)
            queue.save(update_fields=LINK_FIELDS)
    return queue


def create_job(values: Mapping[str, Any], owner: User) -> Step:
    """Create a job that is in no queue yet: its links are UNLINK."""
    job = Step(owner=owner, **values)
    job.state = _first_state(job)
    check_job(job)
    with transaction.atomic():
        limit = settings.DURE_MAX_STEPS_PER_QUEUE
        if Step.objects.filter(owner=owner).count() >= limit:
            raise Invalid("too_many_unlinked_jobs", limit=limit)
        job.save(force_insert=True)
    return job


def delete_job(job_id: UUID) -> None:
    """Delete a job that is in no queue."""
    if not Step.objects.filter(pk=job_id, queue__isnull=True).delete()[0]:
        raise Conflict("job_in_queue")


def enqueue(queue_id: int, values: Mapping[str, Any]) -> Step:
    """Append a new job to the queue, which is READY afterwards."""
    with transaction.atomic():
        queue, job = _queue_for_enqueue(queue_id), Step(**values)
        _append(queue, job)
        job.save(force_insert=True)
        _record_change(queue, "job added")
    return job


def enqueue_job(queue_id: int, job: Step) -> Step:
    """Append a job that was created before. It belongs to the queue afterwards, and to no other one."""
    with transaction.atomic():
        queue = _queue_for_enqueue(queue_id)
        job.owner = None
        _append(queue, job)
        values = {field: getattr(job, field) for field in ENQUEUED_FIELDS}
        if not Step.objects.filter(pk=job.pk, queue__isnull=True).update(**values):
            raise Conflict("job_in_queue")
        _record_change(queue, "job added")
    return job


def move_job(queue_id: int, job_id: UUID, number: int) -> None:
    """Give a job of the queue another number; the jobs between the two move by one."""
    with transaction.atomic():
        queue = queue_at_rest(queue_id)
        if number > queue.job_number:
            raise Invalid(errors={"number": [ErrorText("at_most", limit=queue.job_number)]})
        jobs = [each for each in _job_ids(queue) if each != job_id]
        jobs.insert(number - 1, job_id)
        _link_all(queue, jobs)
        _record_change(queue, "job moved")


def remove_job(queue_id: int, job_id: UUID) -> None:
    """Delete a job of the queue, which is EMPTY after its last one."""
    with transaction.atomic():
        queue = queue_at_rest(queue_id)
        Step.objects.filter(queue=queue, job_id=job_id).delete()
        _link_all(queue, _job_ids(queue))
        _record_change(queue, "job removed")


def delete(queue_id: int) -> None:
    """Delete a queue with its jobs and events, unless it is running."""
    with transaction.atomic():
        queue = StepQueue.objects.select_for_update().get(pk=queue_id)
        if queue.state == QueueState.RUNNING:
            raise Conflict("queue_running")
        record(Act.STEP_QUEUE_DELETED, queue)
        queue.delete()


def record(act: Act, queue: StepQueue, **details: Any) -> None:
    """In the log of its office or, without one, of its owner."""
    office, owner = queue.office_id, queue.owner_id
    activity.record(act, office=office, owner=owner, queue=queue.pk, name=queue.name, **details)


def _record_change(queue: StepQueue, change: str) -> None:
    record(Act.STEP_QUEUE_CHANGED, queue, change=change)


def queue_at_rest(queue_id: int) -> StepQueue:
    """The locked queue, unless it is running."""
    queue = StepQueue.objects.select_for_update(no_key=True).get(pk=queue_id)
    if queue.state == QueueState.RUNNING:
        raise Conflict("queue_running")
    return queue


def _job_ids(queue: StepQueue) -> list[UUID]:
    return list(queue.steps.order_by("number").values_list("job_id", flat=True))


def _link_all(queue: StepQueue, jobs: list[UUID]) -> None:
    call.change(sql.LINK_STEPS, {"jobs": jobs, "head": HEAD, "tail": TAIL})
    queue.job_number = len(jobs)
    queue.state = QueueState.READY if jobs else QueueState.EMPTY
    queue.job_queue, queue.last_job = (str(jobs[0]), str(jobs[-1])) if jobs else (UNINIT, UNINIT)
    queue.save(update_fields=LINK_FIELDS)


def _queue_for_enqueue(queue_id: int) -> StepQueue:
    queue = queue_at_rest(queue_id)
    if queue.job_number >= settings.DURE_MAX_STEPS_PER_QUEUE:
        raise Invalid("queue_full", limit=settings.DURE_MAX_STEPS_PER_QUEUE)
    return queue


def _append(queue: StepQueue, job: Step) -> None:
    if job.operation_library == UNINIT:
        job.operation_library = queue.queue_library
    job.state = _first_state(job)
    check_job(job)
    _link(job, queue)
    queue.save(update_fields=LINK_FIELDS)


def _first_state(job: Step) -> JobState:
    return JobState.NOLIB if job.operation_library == UNINIT else JobState.NOTYET


def _link(job: Step, queue: StepQueue) -> None:
    job.queue, job.number, job.next_job = queue, queue.job_number + 1, TAIL
    if queue.state == QueueState.EMPTY:
        job.prev_job = HEAD
        queue.job_queue = str(job.job_id)
        queue.state = QueueState.READY
    else:
        Step.objects.filter(queue=queue, job_id=queue.last_job).update(next_job=str(job.job_id))
        job.prev_job = queue.last_job
    queue.last_job = str(job.job_id)
    queue.job_number = job.number


def _check_callback(url: str) -> None:
    try:
        webhooks.check_url(url)
    except Invalid as refused:
        raise Invalid(errors={"callback_url": [refused.text]}) from None
