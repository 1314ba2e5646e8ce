"""The JSON of step queues, their jobs and events, and operation libraries."""

from typing import Any

from jobs.api_model import iso_time
from scheduler.steps import libraries
from scheduler.steps.job_checks import QueueCheck
from scheduler.steps.models import Step, StepEvent, StepQueue

JSON = dict[str, Any]


def queue(queue: StepQueue) -> JSON:
    return {
        "queue_id": queue.queue_id,
        "job_number": queue.job_number,
        "operation_direction": queue.operation_direction,
        "queue_library": queue.queue_library,
        "state": queue.state,
        "queue_return": queue.queue_return,
        "job_queue": queue.job_queue,
        "running_job": queue.running_job,
        "last_job": queue.last_job,
        "context": queue.context,
        "name": queue.name,
        "owner": queue.owner.get_username(),
        "office": queue.office_id and str(queue.office_id),
        "callback_url": queue.callback_url or None,
        "started_by": queue.started_by and str(queue.started_by),
        "run": queue.run,
        "cancel_requested_at": iso_time(queue.cancel_requested_at),
        "created_at": iso_time(queue.created_at),
        "started_at": iso_time(queue.started_at),
        "ended_at": iso_time(queue.ended_at),
    }


def step(step: Step) -> JSON:
    seconds = step.expired_time
    return {
        "job_id": str(step.job_id),
        "queue_id": step.queue_id,
        "number": step.number,
        "forward_operation": step.forward_operation,
        "backward_operation": step.backward_operation,
        "arguments": step.arguments,
        "operation_library": step.operation_library,
        # 30 and not 30.0, as the contract writes the default.
        "expired_time": int(seconds) if seconds == int(seconds) else seconds,
        "undo_retries": libraries.undo_retries(step),
        "job_return": step.job_return,
        "next_job": step.next_job,
        "prev_job": step.prev_job,
        "state": step.state,
    }


def queue_check(check: QueueCheck) -> JSON:
    return {
        "valid": check.is_valid,
        "jobs": [
            {"job_id": str(step.job_id), "number": step.number, "errors": error.errors_in_english()}
            for step, error in check.refused
        ],
        "roles_without_worker": check.roles_without_worker,
    }


def event(event: StepEvent) -> JSON:
    return {
        "id": event.id,
        "type": event.type,
        "queue_id": event.queue_id,
        "run": event.run,
        "details": event.details,
        "timestamp": iso_time(event.at),
    }


def library(name: str) -> JSON:
    return {
        "name": name,
        "description": libraries.description(name),
        "operations": [
            {
                "name": operation.name,
                "description": operation.description,
                "role": operation.role,
                "max_retries": operation.max_retries,
                "arguments_schema": operation.schema,
            }
            for operation in libraries.operations_in(name)
        ],
    }
