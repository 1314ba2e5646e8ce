"""GET /api/scheduler/monitor: the data of the overview."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from pydantic import AfterValidator, Field
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.access import offices_of
from jobs.api.framework.authentication import user_of
from jobs.api.framework.openapi_examples import in_response
from jobs.api_model import ApiOut, Time
from jobs.insight.stats import office_counts
from jobs.models import Execution, Worker
from jobs.sql import call
from scheduler import access, beats, monitor, queue_lengths, trends, work_counts
from scheduler.api import examples
from scheduler.api.schemas import RuleWords, ScheduledJobOut
from scheduler.clock import database_now
from scheduler.models import Minute
from scheduler.sql import reports

Tenths = Annotated[float, AfterValidator(lambda seconds: round(seconds, 1))]


class CountsOut(ApiOut):
    pending: int
    running: int
    completed: int = Field(description="Within `counts_window_seconds`: the last day.")
    failed: int = Field(description="Within `counts_window_seconds`: the last day.")


class BeatStatusOut(ApiOut):
    running: int = Field(
        description="Beats seen within the last ten seconds. Without any, no schedule or workflow starts."
    )
    last_seen: Time | None


class DelayedRunOut(ScheduledJobOut):
    delayed_seconds: Tenths
    reason: str = Field(description="Why the run is late, as a sentence.")


class NextOfScheduleOut(ApiOut):
    id: UUID
    name: str
    task_id: str
    next_run_at: Time
    words: RuleWords = Field(validation_alias="rule", description="The rule in plain words.")


class QueueOut(ApiOut):
    role: str
    ready: int = Field(description="Queued work that waits for a slot.")
    processing: int = Field(description="Running work that holds a slot.")
    oldest_ready_seconds: Tenths | None
    canary_seconds: Tenths | None = Field(
        validation_alias="probe_seconds",
        description="Since a worker last consumed a queue probe; null if none did.",
    )


class RunningExecutionOut(ApiOut):
    execution_id: UUID = Field(validation_alias="id")
    task_id: str
    since: Time | None = Field(validation_alias="attempt_started_at")


class WorkerOut(ApiOut):
    name: str
    roles: list[str]
    slots: int = Field(description="How many Executions the worker runs at once.")
    running: int = Field(description="Without staff rights only those that you may see.")
    draining: bool = Field(description="The worker accepts no new work.")
    last_seen: Time = Field(validation_alias="seen_at")
    executions: list[RunningExecutionOut] = Field(description="The running Executions that you may see.")


class MinuteOut(ApiOut):
    minute: Time
    done: int
    failed: int
    wait_ms: int | None = Field(description="95th percentile of the wait for a worker.")
    run_ms: int | None = Field(description="95th percentile of the attempts' duration.")


@extend_schema_serializer(examples=[in_response("one run is late", examples.MONITOR)])
class MonitorOut(ApiOut):
    generated_at: Time
    beat: BeatStatusOut
    counts: CountsOut = Field(description="Workflow runs that you may see.")
    executions: CountsOut = Field(
        description="For staff the Executions of the whole installation; for others the jobs, and the "
        "Executions without a job, that they may see."
    )
    counts_window_seconds: int = Field(
        description="How long before `generated_at` the completed and failed ones are counted."
    )
    delayed: list[DelayedRunOut] = Field(description="Workflow runs that are more than a minute late.")
    next: list[ScheduledJobOut] = Field(description="Upcoming workflow runs.")
    next_schedules: list[NextOfScheduleOut] = Field(description="Upcoming scheduled runs.")
    recent_failures: list[ScheduledJobOut]
    queues: list[QueueOut] = Field(description="By role: what you may see of it.")
    workers: list[WorkerOut] = Field(description="Workers with a heartbeat within the last hour.")
    throughput: list[MinuteOut] = Field(
        description="The last hour, oldest minute first; without staff rights of the jobs in your offices."
    )


class MonitorView(APIView):
    @extend_schema(operation_id="monitor", responses=MonitorOut)
    def get(self, request: Request) -> Response:
        """Show pending, running, late and failed runs. Ended runs are counted over the last day."""
        user, now, limit = user_of(request), database_now(), monitor.LIST_LIMIT
        running, runs = monitor.running_by_worker(user), access.runs_of(user)
        pending = monitor.pending_runs(runs)
        return Response(
            MonitorOut.write(
                {
                    "generated_at": now,
                    "beat": beats.status(),
                    "counts": monitor.run_counts(runs, now),
                    "executions": _execution_counts(user, now),
                    "counts_window_seconds": int(monitor.WINDOW.total_seconds()),
                    "delayed": [_delayed_run(late) for late in monitor.late_runs(runs, pending, now)],
                    "next": pending[:limit],
                    "next_schedules": list(monitor.due_schedules(user)[:limit]),
                    "recent_failures": list(monitor.failed_runs(runs)[:limit]),
                    "queues": queue_lengths.queues(user, now),
                    "workers": [
                        _worker(user, row, running.get(row.name, [])) for row in monitor.workers(now)
                    ],
                    "throughput": _throughput(user, now),
                }
            )
        )


def _execution_counts(user: User, now: datetime) -> CountsOut:
    if user.is_staff:
        pending, running = call.rows(reports.LIVE_EXECUTIONS)[0]
        done, failed = monitor.ended_executions()
        return CountsOut(pending=pending, running=running, completed=done, failed=failed)
    ids = list(offices_of(user).values_list("id", flat=True))
    counts = work_counts.of(user, access.read_origins(user), list(office_counts(ids, now).values()), now)
    running, failed = counts["running"], counts["failed"]
    return CountsOut(pending=counts["waiting"], running=running, completed=counts["done"], failed=failed)


def _worker(user: User, row: Worker, executions: list[Execution]) -> WorkerOut:
    running = row.running if user.is_staff else len(executions)
    return WorkerOut.of(row, executions=executions, running=running)


def _throughput(user: User, now: datetime) -> list[Minute]:
    if user.is_staff:
        return monitor.throughput(now)
    return [
        Minute(
            minute=step.start,
            done=step.done,
            failed=step.failed,
            wait_ms=_whole(step.wait_p95),
            run_ms=_whole(step.run_p95),
        )
        for step in trends.steps(user, "1h", now)
    ]


def _whole(milliseconds: float | None) -> int | None:
    return None if milliseconds is None else round(milliseconds)


def _delayed_run(late: monitor.Late) -> DelayedRunOut:
    return DelayedRunOut.of(late.run, delayed_seconds=late.late_seconds, reason=late.reason)
