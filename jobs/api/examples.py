"""Examples of requests about offices and jobs, and of the answers, for OpenAPI."""

from typing import Any

from dure.failures import FailureType
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.openapi_models import add_examples
from jobs.schemas import BatchSubmissionIn, JobIn, JobInFullOut, JobOut
from jobs.states import (
    V1_EXECUTION_STATUS,
    EventType,
    ExecutionStatus,
    JobStatus,
    MemberRole,
    OnDependencyFailure,
    OnLost,
    Outcome,
    WebhookFormat,
)

OFFICE = "0199c0de-0000-7000-8000-000000000001"
BATCH = "0199c0de-0000-7000-8000-000000000002"
BUILD = "0199c0de-0000-7000-8000-000000000003"
CHECK = "0199c0de-0000-7000-8000-000000000004"
RUN = "0199c0de-0000-7000-8000-000000000005"
AT = "2026-12-01T09:00:00+09:00"
TWO_SECONDS_LATER = "2026-12-01T09:00:02+09:00"
WORKER = "jobs@worker-1"

WAITING_JOB: dict[str, Any] = {
    **dict.fromkeys(JobOut.model_fields),
    "id": CHECK,
    "ref": "check",
    "office_id": OFFICE,
    "batch": BATCH,
    "task_id": "demo.sum",
    "args": {"numbers": [1, 2, 3]},
    "role": "QA",
    "priority": 100,
    "urgent": False,
    "status": JobStatus.PENDING.value,
    "depends_on": [BUILD],
    "on_dependency_failure": OnDependencyFailure.BLOCK.value,
    "timeout_ms": 2_700_000,
    "max_retries": 2,
    "retry_count": 0,
    "created_at": AT,
}
RUNNING_JOB = {
    **WAITING_JOB,
    "status": JobStatus.PROCESSING.value,
    "queued_at": AT,
    "started_at": AT,
    "progress": {"fraction": 0.5, "message": "half of it"},
}
CANCELLED_JOB = {
    **WAITING_JOB,
    "status": JobStatus.CANCELLED.value,
    "cancelled_at": TWO_SECONDS_LATER,
    "completed_at": TWO_SECONDS_LATER,
    "failure_type": FailureType.CANCELLED.value,
}
TRACEBACK = """Traceback (most recent call last):
  File "/app/tasks.py", line 12, in deploy
    client.connect()
ConnectionRefusedError: Connection refused."""
RUN_LOG = {
    "results": [
        {
            "seq": 1_000_000_001,
            "at": AT,
            "attempt": 1,
            "level": "INFO",
            "stream": "log",
            "logger": "dure.task.deploy",
            "message": "Deploying 1.14",
        },
        {
            "seq": 1_000_000_002,
            "at": TWO_SECONDS_LATER,
            "attempt": 1,
            "level": "WARNING",
            "stream": "stderr",
            "logger": None,
            "message": "no cache",
        },
    ],
    "next_after": 1_000_000_002,
    "truncated": False,
}
LOG_TEXT = "2026-12-01 09:00:00.000+09:00 1 INFO dure.task.deploy: Deploying 1.14"
JOB_IN_FULL = {
    **RUNNING_JOB,
    "executions": [
        {
            "id": RUN,
            "attempt": 2,
            "status": V1_EXECUTION_STATUS[ExecutionStatus.RUNNING],
            "started_at": AT,
            "timeout_at": "2026-12-01T09:46:02+09:00",
            "completed_at": None,
            "session_id": None,
            "error_message": None,
            "worker": WORKER,
            "attempts": [
                {
                    "number": 1,
                    "started_at": AT,
                    "timeout_at": "2026-12-01T09:45:00+09:00",
                    "ended_at": TWO_SECONDS_LATER,
                    "outcome": Outcome.FAILURE.value,
                    "failure_type": FailureType.ERROR.value,
                    "error_message": "Connection refused.",
                    "traceback": TRACEBACK,
                    "worker": WORKER,
                    "session_id": "release-1",
                },
                {
                    "number": 2,
                    "started_at": "2026-12-01T09:01:02+09:00",
                    "timeout_at": "2026-12-01T09:46:02+09:00",
                    "ended_at": None,
                    "outcome": None,
                    "failure_type": None,
                    "error_message": None,
                    "traceback": None,
                    "worker": WORKER,
                    "session_id": None,
                },
            ],
        }
    ],
}
ONE_JOB = {"task_id": "demo.sum", "args": {"numbers": [1, 2, 3]}, "priority": 10}
TWO_JOBS = {
    "batch": {"name": "release"},
    "jobs": [
        {"ref": "build", "task_id": "demo.sleep", "args": {"seconds": 2}, "role": "BE"},
        {
            "ref": "check",
            "task_id": "demo.sum",
            "args": {"numbers": [1, 2, 3]},
            "role": "QA",
            "depends_on": ["build"],
            "max_retries": 1,
        },
    ],
}
SUBMITTED = {"batch": {"id": BATCH, "name": "release", "created_at": AT}, "jobs": [WAITING_JOB]}
EVENT = {
    "id": 4711,
    "type": EventType.JOB_STARTED.value,
    "job_id": CHECK,
    "batch_id": BATCH,
    "office_id": OFFICE,
    "details": {"execution_id": RUN, "attempt": 1, "fence": 1, "worker": WORKER},
    "timestamp": AT,
}
MESSAGE = {
    "type": EventType.JOB_FAILED.value,
    "timestamp": AT,
    "data": {
        **EVENT,
        "type": EventType.JOB_FAILED.value,
        "details": {
            "execution_id": RUN,
            "attempt": 3,
            "failure_type": FailureType.ERROR.value,
            "error": "No space left.",
        },
        "ref": "check",
        "task_id": "demo.sum",
        "role": "QA",
        "batch_name": "release",
    },
}
TASK = {
    "task_id": "demo.sum",
    "description": "Adds numbers.",
    "role": "default",
    "args_schema": {
        "type": "object",
        "properties": {"numbers": {"type": "array", "items": {"type": "number"}}},
        "required": ["numbers"],
        "additionalProperties": False,
    },
    "timeout_ms": None,
    "max_retries": None,
    "retry_base_delay": None,
    "on_lost": OnLost.RETRY.value,
    "atomic": False,
    "exclusive": False,
    "rate_limit": None,
    "available": True,
    "seen_at": "2026-12-01T09:00:00.000000+09:00",
    "package": "shop",
    "version": "1.4.0",
    "code_digest": "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
    "schemas_differ": False,
    "limits_differ": False,
}
OFFICE_MADE = {
    "id": OFFICE,
    "name": "Seoul studio",
    "created_at": AT,
    "role": MemberRole.OWNER.value,
    "notify_emails": ["ops@dure.example"],
}
MEMBER = {"username": "bob", "role": MemberRole.OPERATOR.value}
STATS = {
    "office_id": OFFICE,
    **{status.value: 3 for status in JobStatus},
    "avg_completion_time": 21_500.0,
}
HALF_DONE = {
    "id": BATCH,
    "name": "release",
    "created_at": AT,
    "ended_at": None,
    "progress": {
        "total": 2,
        "by_status": {status.value: int(status in (JobStatus.DONE, JobStatus.READY)) for status in JobStatus},
        "percent": 50.0,
    },
}
BATCH_IN_FULL = {
    **HALF_DONE,
    "graph": {
        "nodes": [
            {
                "id": number,
                "ref": ref,
                "task_id": "demo.sleep",
                "role": role,
                "status": status.value,
                "level": level,
                "started_at": AT if status == JobStatus.DONE else None,
                "completed_at": TWO_SECONDS_LATER if status == JobStatus.DONE else None,
            }
            for level, (number, ref, role, status) in enumerate(
                [(BUILD, "build", "BE", JobStatus.DONE), (CHECK, "check", "QA", JobStatus.READY)]
            )
        ],
        "edges": [{"from": BUILD, "to": CHECK}],
    },
    "critical_path": {"jobs": [BUILD, CHECK], "seconds": 4.0},
    "estimated_end": "2026-12-01T09:00:04+09:00",
}
WEBHOOK = {
    "id": 7,
    "url": "https://hooks.dure.example/",
    "format": WebhookFormat.DURE.value,
    "event_types": [EventType.JOB_FAILED.value, EventType.BATCH_COMPLETED.value],
    "enabled": True,
    "disabled_reason": None,
    "created_at": AT,
    "old_secret_until": None,
}
NEW_WEBHOOK = {name: WEBHOOK[name] for name in ("url", "event_types")}
NEW_CHAT_WEBHOOK = {
    "url": "https://hooks.slack.com/services/T000/B000/XXXX",
    "format": WebhookFormat.SLACK.value,
    "event_types": [EventType.JOB_FAILED.value],
}
WEBHOOK_WITH_SECRET = {**WEBHOOK, "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD6hd42n2s4rc="}
ROTATED = {**WEBHOOK_WITH_SECRET, "old_secret_until": "2026-12-02T09:00:00+09:00"}
DELIVERY = {
    "id": 815,
    "webhook_id": "msg_815",
    "event_id": 4711,
    "body": MESSAGE,
    "attempts": 2,
    "created_at": AT,
    "next_at": "2026-12-01T09:05:00+09:00",
    "sent_at": None,
    "gave_up_at": None,
    "answer": "503 Service Unavailable",
}

add_examples(
    {
        JobIn: in_request("one job", ONE_JOB),
        BatchSubmissionIn: in_request("two jobs, one after the other", TWO_JOBS),
        JobOut: in_response("a waiting job", WAITING_JOB),
        JobInFullOut: in_response("running for the second time", JOB_IN_FULL),
    }
)
