"""Example payloads of the API of step queues."""

from typing import Any

from jobs.api.examples import AT, TWO_SECONDS_LATER
from scheduler.steps.states import (
    EMPTY_ARGS,
    HEAD,
    QUEUE_NOT_RUNNING,
    TAIL,
    UNINIT,
    UNLINK,
    Direction,
    JobState,
    QueueState,
    StepEventType,
)

STEP = "0199c0de-0000-7000-8000-000000000021"

NEW_QUEUE = {"name": "web-1", "queue_library": "provisioning"}
QUEUE: dict[str, Any] = {
    "queue_id": 12,
    "job_number": 0,
    "operation_direction": Direction.FORWARD.value,
    "queue_library": "provisioning",
    "state": QueueState.EMPTY.value,
    "queue_return": UNINIT,
    "job_queue": UNINIT,
    "running_job": QUEUE_NOT_RUNNING,
    "last_job": UNINIT,
    "context": {},
    "name": "web-1",
    "owner": "alice",
    "office": None,
    "callback_url": None,
    "started_by": None,
    "run": 0,
    "cancel_requested_at": None,
    "created_at": AT,
    "started_at": None,
    "ended_at": None,
}
NEW_QUEUE_WITH_CALLBACK = {
    **QUEUE,
    "callback_url": "https://hooks.dure.example/queues",
    "callback_secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD6hd42n2s4rc=",
}
RUNNING_QUEUE = {
    **QUEUE,
    "job_number": 1,
    "state": QueueState.RUNNING.value,
    "queue_return": [],
    "job_queue": STEP,
    "running_job": STEP,
    "last_job": STEP,
    "run": 1,
    "started_at": AT,
}
RETURNED = {
    "job_id": STEP,
    "number": 1,
    "direction": Direction.FORWARD.value,
    "operation": "reserve_address",
    "state": JobState.SUCCESS.value,
    "return": {"address": "10.20.0.1"},
}
ENDED_QUEUE = {
    **RUNNING_QUEUE,
    "state": QueueState.READY.value,
    "queue_return": [RETURNED],
    "running_job": QUEUE_NOT_RUNNING,
    "context": {"address": "10.20.0.1"},
    "ended_at": TWO_SECONDS_LATER,
}
CANCELLING_QUEUE = {**RUNNING_QUEUE, "cancel_requested_at": TWO_SECONDS_LATER}
NEW_STEP = {
    "forward_operation": "reserve_address",
    "backward_operation": "release_address",
    "arguments": {"network": "10.20.0.0/24"},
}
SAVED_STEP = {
    "job_id": STEP,
    "queue_id": 12,
    "number": 1,
    "forward_operation": "reserve_address",
    "backward_operation": "release_address",
    "arguments": EMPTY_ARGS,
    "operation_library": "provisioning",
    "expired_time": 30,
    "undo_retries": 3,
    "job_return": UNINIT,
    "next_job": TAIL,
    "prev_job": HEAD,
    "state": JobState.NOTYET.value,
}
QUEUE_CHECK = {
    "valid": False,
    "jobs": [
        {
            "job_id": STEP,
            "number": 1,
            "errors": {"arguments": ["reserve_address: network: Field required"]},
        }
    ],
    "roles_without_worker": ["DevOps"],
}
UNLINKED_STEP = {**SAVED_STEP, "queue_id": None, "number": None, "next_job": UNLINK, "prev_job": UNLINK}
COPIED_QUEUE = {
    **QUEUE,
    "queue_id": 13,
    "job_number": 1,
    "state": QueueState.READY.value,
    "job_queue": STEP,
    "last_job": STEP,
}
EVENT = {
    "id": 99,
    "type": StepEventType.STARTED.value,
    "queue_id": 12,
    "run": 1,
    "details": {},
    "timestamp": AT,
}
LIBRARY = {
    "name": "provisioning",
    "description": "Provisioning, in four steps that can be rolled back.",
    "operations": [
        {
            "name": "reserve_address",
            "description": "Reserves the first free address of a network.",
            "role": "default",
            "max_retries": None,
            "arguments_schema": {
                "type": "object",
                "properties": {"network": {"type": "string", "default": "10.20.0.0/24"}},
                "additionalProperties": False,
            },
        }
    ],
}
