"""Creates step queues, enqueues jobs, and deletes queues."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from jobs.errors import Conflict, ErrorText, FieldErrors, Invalid, TooLarge
from jobs.models import Office
from jobs.notifications import signing, webhooks
from scheduler.steps import libraries
from scheduler.steps.models import Step, StepQueue
from scheduler.steps.states import EMPTY_ARGS, HEAD, NO_OPERATION, TAIL, UNINIT, JobState, QueueState


def create(values: Mapping[str, Any], *, owner: User, office: Office | None, now: datetime) -> StepQueue:
    """Create an EMPTY queue; with a callback URL also the secret that signs its messages."""
    _check_library("queue_library", values.get("queue_library", UNINIT))
    queue = StepQueue(owner=owner, office=office, created_at=now, **values)
    if queue.callback_url:
        _check_callback(queue.callback_url)
        queue.callback_secret = signing.new_secret()
    queue.save(force_insert=True)
    return queue


def enqueue(queue_id: int, values: Mapping[str, Any]) -> Step:
    """Append a job to the queue, which is READY afterwards."""
    with transaction.atomic():
        queue = StepQueue.objects.select_for_update(no_key=True).get(pk=queue_id)
        if queue.state == QueueState.RUNNING:
            raise Conflict("queue_running")
        if queue.job_number >= settings.DURE_MAX_STEPS_PER_QUEUE:
            raise Invalid("queue_full", limit=settings.DURE_MAX_STEPS_PER_QUEUE)
        job = Step(**values)
        if job.operation_library == UNINIT:
            job.operation_library = queue.queue_library
        job.state = JobState.NOLIB if job.operation_library == UNINIT else JobState.NOTYET
        _check_job(job)
        _link(job, queue)
        job.save(force_insert=True)
        queue.save(update_fields=["job_number", "state", "job_queue", "last_job"])
    return job


def delete(queue_id: int) -> None:
    """Delete a queue with its jobs and events, unless it is running."""
    with transaction.atomic():
        queue = StepQueue.objects.select_for_update().get(pk=queue_id)
        if queue.state == QueueState.RUNNING:
            raise Conflict("queue_running")
        queue.delete()


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
    if library != UNINIT and not libraries.operations_in(library):
        registered = ", ".join(libraries.names()) or "none"
        text = ErrorText("unknown_library", library=library[:100], registered=registered)
        raise Invalid(code=text.code, errors={field: [text]})


def _check_callback(url: str) -> None:
    try:
        webhooks.check_url(url)
    except Invalid as refused:
        raise Invalid(errors={"callback_url": [refused.text]}) from None


def _check_job(job: Step) -> None:
    """Check that the job's operations are registered and accept its arguments."""
    _check_arguments(job.arguments)
    if job.operation_library == UNINIT:
        return
    _check_library("operation_library", job.operation_library)
    errors: FieldErrors = {}
    operations = []
    for field in ("forward_operation", "backward_operation"):
        name = getattr(job, field)
        if name == NO_OPERATION:
            continue
        try:
            operations.append(libraries.find(job.operation_library, name))
        except libraries.UnknownOperation as unknown:
            errors[field] = [unknown.text]
    if operations and not errors:
        arguments = {} if job.arguments == EMPTY_ARGS else job.arguments
        accepted = frozenset[str]().union(*(operation.argument_names for operation in operations))
        problems = [
            ErrorText("argument_of_neither", argument=name[:100])
            for name in arguments
            if name not in accepted
        ]
        problems += [
            problem for operation in operations for problem in operation.argument_problems(arguments)
        ]
        if problems:
            errors["arguments"] = problems[:50]
    if errors:
        raise Invalid("step_invalid", errors=errors)


def _check_arguments(arguments: object) -> None:
    if arguments != EMPTY_ARGS and not isinstance(arguments, dict):
        raise Invalid(errors={"arguments": [ErrorText("arguments_object", constant=EMPTY_ARGS)]})
    if len(json.dumps(arguments).encode()) > settings.DURE_MAX_ARGS_BYTES:
        raise TooLarge("arguments_too_large", limit=settings.DURE_MAX_ARGS_BYTES)
