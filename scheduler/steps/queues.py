"""Makes step queues, enqueues jobs into them, and removes them."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from jobs.errors import Conflict, Invalid, TooLarge
from jobs.models import Office
from jobs.notifications import signing, webhooks
from scheduler.steps import libraries
from scheduler.steps.models import Step, StepQueue
from scheduler.steps.states import EMPTY_ARGS, HEAD, NO_OPERATION, TAIL, UNINIT, JobState, QueueState


def create(given: Mapping[str, Any], *, owner: User, office: Office | None, now: datetime) -> StepQueue:
    """A queue that is EMPTY; with a callback, a secret that its messages are signed with."""
    _check_library("queue_library", given.get("queue_library", UNINIT))
    queue = StepQueue(owner=owner, office=office, created_at=now, **given)
    if queue.callback_url:
        _check_callback(queue.callback_url)
        queue.callback_secret = signing.new_secret()
    queue.save(force_insert=True)
    return queue


def enqueue(queue_id: int, given: Mapping[str, Any]) -> Step:
    """The job, linked behind the last one; the queue is READY after it."""
    with transaction.atomic():
        queue = StepQueue.objects.select_for_update(no_key=True).get(pk=queue_id)
        if queue.state == QueueState.RUNNING:
            raise Conflict("A running queue takes no jobs.", code="queue_running")
        if queue.job_number >= settings.DURE_MAX_STEPS_PER_QUEUE:
            raise Invalid(f"A queue has at most {settings.DURE_MAX_STEPS_PER_QUEUE} jobs.", code="queue_full")
        job = _initialised(given)
        _replace_library(job, queue)
        _check_operations(job)
        _link(job, queue)
        job.save(force_insert=True)
        queue.save(update_fields=["job_number", "state", "job_queue", "last_job"])
    return job


def remove(queue_id: int) -> None:
    """The queue with its jobs and its story, unless it runs."""
    with transaction.atomic():
        queue = StepQueue.objects.select_for_update().get(pk=queue_id)
        if queue.state == QueueState.RUNNING:
            raise Conflict("A running queue cannot be deleted; cancel it first.", code="queue_running")
        queue.delete()


def _initialised(given: Mapping[str, Any]) -> Step:
    """A job as it is before any queue has it."""
    job = Step(**given)
    job.state = JobState.NOLIB if job.operation_library == UNINIT else JobState.NOTYET
    return job


def _replace_library(job: Step, queue: StepQueue) -> None:
    if job.operation_library == UNINIT:
        job.operation_library = queue.queue_library
        if job.operation_library != UNINIT:
            job.state = JobState.NOTYET


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


def _check_library(field: str, library: str) -> None:
    if library != UNINIT and not libraries.operations_of(library):
        known = ", ".join(libraries.names()) or "none"
        sentence = f"There is no library {library[:100]!r}; there are: {known}."
        raise Invalid(sentence, code="unknown_library", errors={field: [sentence]})


def _check_callback(url: str) -> None:
    try:
        webhooks.check_url(url)
    except Invalid as refused:
        raise Invalid(refused.message, errors={"callback_url": [refused.message]}) from None


def _check_operations(job: Step) -> None:
    """What can be known before the run: whether there are such operations, and whether they take this."""
    _check_arguments(job.arguments)
    if job.operation_library == UNINIT:
        return
    _check_library("operation_library", job.operation_library)
    errors: dict[str, list[str]] = {}
    found = []
    for field in ("forward_operation", "backward_operation"):
        name = getattr(job, field)
        if name == NO_OPERATION:
            continue
        try:
            found.append(libraries.find(job.operation_library, name))
        except libraries.UnknownOperation as unknown:
            errors[field] = [str(unknown)]
    if found and not errors:
        arguments = {} if job.arguments == EMPTY_ARGS else job.arguments
        taken = frozenset[str]().union(*(operation.names for operation in found))
        wrong = [f"{name[:100]}: Neither operation takes this." for name in arguments if name not in taken]
        wrong += [problem for operation in found for problem in operation.problems_with(arguments)]
        if wrong:
            errors["arguments"] = wrong[:50]
    if errors:
        raise Invalid("The job was refused; nothing was enqueued.", errors=errors)


def _check_arguments(arguments: object) -> None:
    if arguments != EMPTY_ARGS and not isinstance(arguments, dict):
        sentence = f"Expected an object, or {EMPTY_ARGS!r}."
        raise Invalid(f"arguments: {sentence}", errors={"arguments": [sentence]})
    if len(json.dumps(arguments).encode()) > settings.DURE_MAX_ARGS_BYTES:
        raise TooLarge(f"The arguments are larger than {settings.DURE_MAX_ARGS_BYTES} bytes.")
