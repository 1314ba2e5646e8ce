"""How the monitor's data is described in OpenAPI. scheduler/monitor.py collects it."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from jobs.api.framework.openapi_examples import answered
from scheduler.api import examples
from scheduler.api.documents import RunDocument, WordsDocument


class CountsDocument(serializers.Serializer[Any]):
    pending = serializers.IntegerField()
    running = serializers.IntegerField()
    completed = serializers.IntegerField(help_text="Within the last day.")
    failed = serializers.IntegerField(help_text="Within the last day.")


@extend_schema_serializer(component_name="DelayedRun")
class DelayedDocument(RunDocument):
    delayed_seconds = serializers.FloatField()
    reason = serializers.CharField(help_text="What holds it back, for a person.")


@extend_schema_serializer(component_name="NextOfSchedule")
class NextOfScheduleDocument(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    task_id = serializers.CharField()
    next_run_at = serializers.DateTimeField()
    words = WordsDocument(help_text="The rule in plain words.")


@extend_schema_serializer(component_name="Queue")
class QueueFiguresDocument(serializers.Serializer[Any]):
    role = serializers.CharField()
    ready = serializers.IntegerField(help_text="They wait for a slot.")
    processing = serializers.IntegerField(help_text="They hold a slot.")
    oldest_ready_seconds = serializers.FloatField(allow_null=True)
    canary_seconds = serializers.FloatField(
        allow_null=True, help_text="How long ago a worker of this role took a message; null: not lately."
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
    slots = serializers.IntegerField(help_text="How much it runs at once.")
    running = serializers.IntegerField()
    draining = serializers.BooleanField(help_text="It takes nothing new any more.")
    last_seen = serializers.DateTimeField()
    executions = RunningDocument(many=True, help_text="What it runs, as far as you may see it.")


@extend_schema_serializer(component_name="Minute")
class MinuteDocument(serializers.Serializer[Any]):
    minute = serializers.DateTimeField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    wait_ms = serializers.IntegerField(allow_null=True, help_text="How long work waited for a worker.")
    run_ms = serializers.IntegerField(allow_null=True, help_text="How long attempts took.")


@extend_schema_serializer(component_name="Monitor", examples=[answered("one run is late", examples.MONITOR)])
class MonitorDocument(serializers.Serializer[Any]):
    generated_at = serializers.DateTimeField()
    counts = CountsDocument(help_text="Of the workflow runs that you may see.")
    executions = CountsDocument(help_text="Of all Executions, everybody's.")
    delayed = DelayedDocument(many=True, help_text="Due more than a minute ago, and not started.")
    next = RunDocument(many=True, help_text="The next runs of workflows.")
    next_schedules = NextOfScheduleDocument(many=True, help_text="The next turns of schedules.")
    recent_failures = RunDocument(many=True)
    queues = QueueFiguresDocument(many=True, help_text="By role.")
    workers = WorkerDocument(many=True, help_text="Those that were heard of within the last hour.")
    throughput = MinuteDocument(many=True, help_text="The last hour, the oldest minute first.")
