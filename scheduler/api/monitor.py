"""GET /api/scheduler/monitor: the data of the overview."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.framework.authentication import user_of
from jobs.api.framework.openapi_examples import in_response
from jobs.models import Execution, Worker
from jobs.serialize import iso_time
from scheduler import beats, monitor
from scheduler.api import examples, shapes
from scheduler.api.documents import RunDocument, WordsDocument
from scheduler.clock import database_now
from scheduler.models import Minute, Schedule

JSON = dict[str, Any]


class CountsDocument(serializers.Serializer[Any]):
    pending = serializers.IntegerField()
    running = serializers.IntegerField()
    completed = serializers.IntegerField(help_text="Within `counts_window_seconds`: the last day.")
    failed = serializers.IntegerField(help_text="Within `counts_window_seconds`: the last day.")


@extend_schema_serializer(component_name="BeatStatus")
class BeatDocument(serializers.Serializer[Any]):
    running = serializers.IntegerField(
        help_text="Beats seen within the last ten seconds. Without any, no schedule or workflow starts."
    )
    last_seen = serializers.DateTimeField(allow_null=True)


@extend_schema_serializer(component_name="DelayedRun")
class DelayedDocument(RunDocument):
    delayed_seconds = serializers.FloatField()
    reason = serializers.CharField(help_text="Why the run is late, as a sentence.")


@extend_schema_serializer(component_name="NextOfSchedule")
class NextOfScheduleDocument(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    task_id = serializers.CharField()
    next_run_at = serializers.DateTimeField()
    words = WordsDocument(help_text="The rule in plain words.")


@extend_schema_serializer(component_name="Queue")
class QueueDocument(serializers.Serializer[Any]):
    role = serializers.CharField()
    ready = serializers.IntegerField(help_text="Queued work that waits for a slot.")
    processing = serializers.IntegerField(help_text="Running work that holds a slot.")
    oldest_ready_seconds = serializers.FloatField(allow_null=True)
    canary_seconds = serializers.FloatField(
        allow_null=True, help_text="Since a worker last consumed a queue probe; null if none did."
    )


@extend_schema_serializer(component_name="RunningExecution")
class RunningDocument(serializers.Serializer[Any]):
    execution_id = serializers.UUIDField()
    task_id = serializers.CharField()
    since = serializers.DateTimeField(allow_null=True)


@extend_schema_serializer(component_name="Worker")
class WorkerDocument(serializers.Serializer[Any]):
    name = serializers.CharField()
    roles = serializers.ListField(child=serializers.CharField())
    slots = serializers.IntegerField(help_text="How many Executions the worker runs at once.")
    running = serializers.IntegerField()
    draining = serializers.BooleanField(help_text="The worker accepts no new work.")
    last_seen = serializers.DateTimeField()
    executions = RunningDocument(many=True, help_text="The running Executions that you may see.")


@extend_schema_serializer(component_name="Minute")
class MinuteDocument(serializers.Serializer[Any]):
    minute = serializers.DateTimeField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    wait_ms = serializers.IntegerField(allow_null=True, help_text="95th percentile of the wait for a worker.")
    run_ms = serializers.IntegerField(allow_null=True, help_text="95th percentile of the attempts' duration.")


@extend_schema_serializer(
    component_name="Monitor", examples=[in_response("one run is late", examples.MONITOR)]
)
class MonitorDocument(serializers.Serializer[Any]):
    generated_at = serializers.DateTimeField()
    beat = BeatDocument()
    counts = CountsDocument(help_text="Workflow runs that you may see.")
    executions = CountsDocument(help_text="Executions of the whole installation.")
    counts_window_seconds = serializers.IntegerField(
        help_text="How long before `generated_at` the completed and failed ones are counted."
    )
    delayed = DelayedDocument(many=True, help_text="Workflow runs that are more than a minute late.")
    next = RunDocument(many=True, help_text="Upcoming workflow runs.")
    next_schedules = NextOfScheduleDocument(many=True, help_text="Upcoming scheduled runs.")
    recent_failures = RunDocument(many=True)
    queues = QueueDocument(many=True, help_text="By role.")
    workers = WorkerDocument(many=True, help_text="Workers with a heartbeat within the last hour.")
    throughput = MinuteDocument(many=True, help_text="The last hour, oldest minute first.")


@extend_schema(tags=["monitor"])
class MonitorView(GenericAPIView[Any]):
    pagination_class = None
    filter_backends = ()
    serializer_class = serializers.Serializer

    @extend_schema(operation_id="monitor", responses=MonitorDocument)
    def get(self, request: Request) -> Response:
        """Show pending, running, late and failed runs. Ended runs are counted over the last day."""
        user, now, limit = user_of(request), database_now(), monitor.LIST_LIMIT
        running, beat = monitor.running_by_worker(user), beats.status()
        return Response(
            {
                "generated_at": iso_time(now),
                "beat": {"running": beat.running, "last_seen": iso_time(beat.last_seen)},
                "counts": vars(monitor.run_counts(user, now)),
                "executions": vars(monitor.execution_counts()),
                "counts_window_seconds": int(monitor.WINDOW.total_seconds()),
                "delayed": [_late_run(late) for late in monitor.late_runs(user, now)],
                "next": [shapes.run_json(run) for run in monitor.pending_runs(user)[:limit]],
                "next_schedules": [_next_schedule(row) for row in monitor.due_schedules(user)[:limit]],
                "recent_failures": [shapes.run_json(run) for run in monitor.failed_runs(user)[:limit]],
                "queues": [_queue(queue) for queue in monitor.queues()],
                "workers": [_worker(row, running.get(row.name, [])) for row in monitor.workers(now)],
                "throughput": [_minute(minute) for minute in monitor.throughput(now)],
            }
        )


def _late_run(late: monitor.LateRun) -> JSON:
    return {
        **shapes.run_json(late.run),
        "delayed_seconds": round(late.late_seconds, 1),
        "reason": late.reason,
    }


def _next_schedule(schedule: Schedule) -> JSON:
    return {
        "id": str(schedule.id),
        "name": schedule.name,
        "task_id": schedule.task_id,
        "next_run_at": iso_time(schedule.next_run_at),
        "words": shapes.rule_words(schedule.rule),
    }


def _queue(queue: monitor.QueueStatus) -> JSON:
    oldest, probe = queue.oldest_ready_seconds, queue.probe_seconds
    return {
        "role": queue.role,
        "ready": queue.ready,
        "processing": queue.processing,
        "oldest_ready_seconds": None if oldest is None else round(oldest, 1),
        "canary_seconds": None if probe is None else round(probe, 1),
    }


def _worker(worker: Worker, running: list[Execution]) -> JSON:
    return {
        "name": worker.name,
        "roles": worker.roles,
        "slots": worker.slots,
        "running": worker.running,
        "draining": worker.draining,
        "last_seen": iso_time(worker.seen_at),
        "executions": [
            {
                "execution_id": str(execution.id),
                "task_id": execution.task_id,
                "since": iso_time(execution.attempt_started_at),
            }
            for execution in running
        ],
    }


def _minute(minute: Minute) -> JSON:
    return {
        "minute": iso_time(minute.minute),
        "done": minute.done,
        "failed": minute.failed,
        "wait_ms": minute.wait_ms,
        "run_ms": minute.run_ms,
    }
