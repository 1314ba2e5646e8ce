"""An office's scheduler: its numbers, its settings, and a push by hand."""

from dataclasses import asdict
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import lifecycle, office_config
from jobs.api import examples
from jobs.api.framework.openapi_examples import answered, asked
from jobs.api.views import ACTS, CONFIGURES, OfficeView
from jobs.insight import stats
from jobs.models import Office

DEFAULTS = office_config.shown(Office())
MORE_AT_ONCE = {"maxConcurrentJobs": 10, "maxConcurrentByRole": {"FE": 2, "QA": None}}


@extend_schema_serializer(
    component_name="JobQueueStats", examples=[answered("three of each", examples.STATS)]
)
class StatsSerializer(serializers.Serializer[None]):
    office_id = serializers.UUIDField()
    pending = serializers.IntegerField()
    ready = serializers.IntegerField()
    processing = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    timeout = serializers.IntegerField(help_text="Timed out, and wait for their retry.")
    avg_completion_time = serializers.FloatField(
        help_text="In milliseconds, from the start of the first attempt to the end, of the last 1,000 jobs "
        "that were done; 0 while there is none."
    )


class ProcessedSerializer(serializers.Serializer[None]):
    promoted = serializers.IntegerField(help_text="They became ready.")
    dispatched = serializers.IntegerField(help_text="They were sent to a worker.")


class StatsView(OfficeView):
    """Exact counts, and how long jobs take."""

    @extend_schema(
        operation_id="get_job_queue_stats",
        tags=["scheduler"],
        summary="How many jobs are in which state",
        responses=StatsSerializer,
    )
    def get(self, request: Request, office_id: UUID) -> Response:
        return Response(stats.of(self.office().id))


class ConfigView(OfficeView):
    """The office's JobSchedulerConfig."""

    @extend_schema(
        operation_id="get_scheduler_config",
        tags=["scheduler"],
        summary="Limits, timeouts and retries of an office",
        responses=office_config.JobSchedulerConfig,
        examples=[answered("a new office's", DEFAULTS)],
    )
    def get(self, request: Request, office_id: UUID) -> Response:
        return Response(office_config.shown(self.office()))

    @extend_schema(
        operation_id="change_scheduler_config",
        tags=["scheduler"],
        summary="Change limits, timeouts and retries",
        description=(
            "Owners only. A JSON merge patch: what is not named stays as it is, inside the two maps as well; "
            "null takes a role out of a map, or empties it. New limits count at once; timeouts and retries "
            "for jobs that are submitted from now on."
        ),
        request={"application/json": office_config.patch_schema()},
        responses=office_config.JobSchedulerConfig,
        examples=[
            asked("more at once", MORE_AT_ONCE),
            asked("pause", {"paused": True}),
            answered("paused", {**DEFAULTS, "paused": True}),
        ],
    )
    def patch(self, request: Request, office_id: UUID) -> Response:
        return Response(office_config.change(self.office(CONFIGURES).id, dict(request.data)))


class ProcessView(OfficeView):
    """A push by hand."""

    @extend_schema(
        operation_id="process_jobs",
        tags=["scheduler"],
        summary="Promote what is ready, and fill the free slots, now",
        description="The engine does so by itself.",
        request=None,
        responses=ProcessedSerializer,
        examples=[answered("done", {"promoted": 2, "dispatched": 1})],
    )
    def post(self, request: Request, office_id: UUID) -> Response:
        return Response(asdict(lifecycle.advance_office(self.office(ACTS).id)))
