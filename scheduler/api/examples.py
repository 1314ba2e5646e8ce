"""Examples of requests about schedules, Executions and workflows, and of the answers, for OpenAPI."""

from typing import Any

from jobs.api.examples import AT, BATCH, OFFICE, ONE_JOB, TWO_JOBS, TWO_SECONDS_LATER, WAITING_JOB, WORKER
from jobs.states import ExecutionStatus, JobStatus, Outcome, Trigger
from scheduler.states import OccurrenceOutcome, Overlap, RunStatus, WorkflowStatus

SCHEDULE = "0199c0de-0000-7000-8000-000000000011"
EXECUTION = "0199c0de-0000-7000-8000-000000000012"
WORKFLOW = "0199c0de-0000-7000-8000-000000000013"
RUN = "0199c0de-0000-7000-8000-000000000014"
TOMORROW = "2026-12-02T09:00:00+09:00"
DAILY_WORDS = {"ko": "매일 09:00", "en": "every day at 09:00"}
CRON_WORDS = {"ko": "매일 09:00", "en": "at 09:00, every day"}

NEW_SCHEDULE: dict[str, Any] = {
    "name": "every morning",
    "task_id": "demo.sum",
    "args": {"numbers": [1, 2, 3]},
    "kind": "cron",
    "cron": "0 9 * * *",
}
EVERY_MINUTE = {
    "name": "every minute",
    "task_id": "demo.sum",
    "args": {"numbers": [1, 2, 3]},
    "kind": "interval",
    "every_seconds": 60,
    "overlap": Overlap.ALLOW.value,
}
SAVED_SCHEDULE = {
    "id": SCHEDULE,
    **NEW_SCHEDULE,
    "every_seconds": None,
    "at": None,
    "enabled": True,
    "timezone": "Asia/Seoul",
    "overlap": Overlap.SKIP.value,
    "catch_up": "latest",
    "grace": 60,
    "calendar": None,
    "max_retries": 3,
    "retry_backoff": None,
    "retry_base_delay": None,
    "timeout_ms": None,
    "on_lost": None,
    "notify_after_failures": None,
    "notify_after_missed": None,
    "notify_office": None,
    "failing_since": None,
    "starts_at": None,
    "ends_at": None,
    "words": CRON_WORDS,
    "next_run_at": TOMORROW,
    "last_run_at": AT,
    "last_execution_id": EXECUTION,
    "created_at": AT,
    "updated_at": AT,
}
PAUSED_SCHEDULE = {**SAVED_SCHEDULE, "enabled": False, "next_run_at": None}
RULE = {"kind": "cron", "cron": "0 9 * * *", "count": 2}
NEXT_TIMES = {
    "next": [TOMORROW, "2026-12-03T09:00:00+09:00"],
    "clock_changes": [],
    "words": CRON_WORDS,
}
NEW_CALENDAR = {
    "name": "holidays",
    "dates": ["2026-12-25"],
    "windows": [{"starts_at": "2026-12-05T01:00:00+09:00", "ends_at": "2026-12-05T03:00:00+09:00"}],
}
SAVED_CALENDAR = {
    "id": "0199c0de-0000-7000-8000-000000000015",
    **NEW_CALENDAR,
    "timezone": "Asia/Seoul",
    "created_at": AT,
    "updated_at": AT,
}
SKIPPED_OCCURRENCE = {
    "due_at": AT,
    "turn": OccurrenceOutcome.SKIPPED.value,
    "trigger": Trigger.SCHEDULE.value,
    "reason": "The previous run was still in progress.",
    "execution_id": None,
    "decided_at": AT,
}
EXECUTION_DONE = {
    "execution_id": EXECUTION,
    "task_id": "demo.sum",
    "trigger": Trigger.SCHEDULE.value,
    "schedule_id": SCHEDULE,
    "schedule_name": "every morning",
    "scheduled_for": AT,
    "created_at": AT,
    "started_at": AT,
    "finished_at": TWO_SECONDS_LATER,
    "status": ExecutionStatus.SUCCESS.value,
    "retry_count": 0,
    "max_retries": 3,
    "next_retry_at": None,
    "attempts": [
        {
            "number": 1,
            "started_at": AT,
            "timeout_at": "2026-12-01T09:30:00+09:00",
            "ended_at": TWO_SECONDS_LATER,
            "outcome": Outcome.SUCCESS.value,
            "failure_type": None,
            "error": None,
            "traceback": None,
            "instance": WORKER,
            "session_id": None,
        }
    ],
    "args": {"numbers": [1, 2, 3]},
    "result": {"sum": 6},
    "error": None,
    "instance": WORKER,
    "locked_until": None,
}
EXECUTION_CANCELLED = {
    **EXECUTION_DONE,
    "trigger": Trigger.MANUAL.value,
    "schedule_id": None,
    "schedule_name": None,
    "scheduled_for": None,
    "started_at": None,
    "status": ExecutionStatus.CANCELLED.value,
    "attempts": [],
    "result": None,
    "instance": None,
}
DAILY = {"mode": "recurring", "pattern": "daily", "time": "09:00"}
NEW_WORKFLOW = {
    "office": OFFICE,
    "name": "nightly build",
    "status": WorkflowStatus.ACTIVE.value,
    "steps": TWO_JOBS["jobs"],
    "schedule_config": DAILY,
}
SAVED_WORKFLOW = {
    "id": WORKFLOW,
    **NEW_WORKFLOW,
    "version": 1,
    "max_run_retries": 0,
    "input_schema": None,
    "words": DAILY_WORDS,
    "next_run_at": TOMORROW,
    "created_at": AT,
    "updated_at": AT,
}
ANOTHER_TIME = {"schedule_config": {**DAILY, "pattern": "weekly", "days_of_week": [0, 4]}}
RUN_PENDING: dict[str, Any] = {
    "id": RUN,
    "workflow_id": WORKFLOW,
    "workflow_data": {
        "name": "nightly build",
        "version": 1,
        "steps": [ONE_JOB],
        "schedule_config": DAILY,
    },
    "input": None,
    "scheduled_time": AT,
    "status": RunStatus.PENDING.value,
    "created_at": AT,
    "updated_at": AT,
    "executed_at": None,
    "ended_at": None,
    "retry_count": 0,
    "error_message": None,
    "batch": None,
}
RUN_STARTED = {**RUN_PENDING, "status": RunStatus.RUNNING.value, "executed_at": AT, "batch": BATCH}
START = {
    "number": 1,
    "started_at": AT,
    "ended_at": None,
    "status": RunStatus.RUNNING.value,
    "error_message": None,
}
RUN_WITH_HISTORY = {**RUN_STARTED, "history": [START]}
RUN_FAILED = {
    **RUN_STARTED,
    "status": RunStatus.FAILED.value,
    "ended_at": TWO_SECONDS_LATER,
    "error_message": "check: No space left.",
}
RUN_WITH_RESULTS = {
    **RUN_WITH_HISTORY,
    "status": RunStatus.COMPLETED.value,
    "ended_at": TWO_SECONDS_LATER,
    "history": [{**START, "ended_at": TWO_SECONDS_LATER, "status": RunStatus.COMPLETED.value}],
    "results": [
        {
            **WAITING_JOB,
            "depends_on": [],
            "status": JobStatus.DONE.value,
            "started_at": AT,
            "completed_at": TWO_SECONDS_LATER,
            "result": {"sum": 6},
        }
    ],
}
MONITOR = {
    "generated_at": AT,
    "beat": {"running": 1, "last_seen": AT},
    "counts": {"pending": 1, "running": 0, "completed": 12, "failed": 1},
    "executions": {"pending": 2, "running": 1, "completed": 166, "failed": 5},
    "counts_window_seconds": 86_400,
    "delayed": [
        {
            **RUN_STARTED,
            "delayed_seconds": 81.5,
            "reason": "Its first steps wait for a free slot of the office.",
        }
    ],
    "next": [RUN_PENDING],
    "next_schedules": [
        {
            "id": SCHEDULE,
            "name": "every morning",
            "task_id": "demo.sum",
            "next_run_at": TOMORROW,
            "words": CRON_WORDS,
        }
    ],
    "recent_failures": [RUN_FAILED],
    "queues": [
        {
            "role": "default",
            "ready": 2,
            "processing": 1,
            "oldest_ready_seconds": 81.5,
            "canary_seconds": 8.0,
        }
    ],
    "workers": [
        {
            "name": WORKER,
            "roles": ["default", "FE"],
            "slots": 2,
            "running": 1,
            "draining": False,
            "last_seen": AT,
            "executions": [{"execution_id": EXECUTION, "task_id": "demo.sum", "since": AT}],
        }
    ],
    "throughput": [{"minute": AT, "done": 12, "failed": 1, "wait_ms": 4, "run_ms": 1520}],
}
