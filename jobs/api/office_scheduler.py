"""An office's scheduler: statistics, settings, and a manual pass."""

from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_serializer
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import lifecycle, office_config
from jobs.api import examples
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.views import OPERATOR, OWNER, OfficeView
from jobs.api_model import ApiOut, Number
from jobs.insight import stats
from jobs.models import Office

DEFAULTS = office_config.config_of(Office())
HIGHER_LIMITS = {"maxConcurrentJobs": 10, "maxConcurrentByRole": {"FE": 2, "QA": None}}


@extend_schema_serializer(examples=[in_response("three of each", examples.STATS)])
class JobQueueStatsOut(ApiOut):
    office_id: UUID
    pending: int
    ready: int
    processing: int
    done: int
    failed: int
    cancelled: int
    timeout: int = Field(description="Timed out and waiting for a retry.")
    avg_completion_time: Number = Field(
        description="In milliseconds, from the start of the first attempt to the end, over the last 1,000 "
        "jobs that succeeded; 0 if there are none."
    )


class ProcessedOut(ApiOut):
    promoted: int = Field(description="Jobs that became ready.")
    dispatched: int = Field(description="Jobs that were sent to a worker.")


class StatsView(OfficeView):
    @extend_schema(operation_id="get_job_queue_stats", responses=JobQueueStatsOut)
    def get(self, request: Request, office_id: UUID) -> Response:
        """Number of jobs in each state. Exact counts and the average run time."""
        return Response(stats.of(self.office().id))


class ConfigView(OfficeView):
    @extend_schema(
        operation_id="get_scheduler_config",
        responses=office_config.JobSchedulerConfig,
        examples=[in_response("a new office", DEFAULTS)],
    )
    def get(self, request: Request, office_id: UUID) -> Response:
        """Limits, timeouts and retries of an office. The office's JobSchedulerConfig."""
        return Response(office_config.config_of(self.office()))

    @extend_schema(
        operation_id="change_scheduler_config",
        request={"application/json": office_config.patch_schema()},
        responses=office_config.JobSchedulerConfig,
        examples=[
            in_request("higher limits", HIGHER_LIMITS),
            in_request("pause", {"paused": True}),
            in_response("paused", {**DEFAULTS, "paused": True}),
        ],
    )
    def patch(self, request: Request, office_id: UUID) -> Response:
        """Change limits, timeouts and retries.

        Owners only. A JSON merge patch: settings that are not named stay unchanged, inside the two maps as
        well; null removes a role from a map, or empties the map. New limits apply at once; timeouts and
        retries apply to jobs submitted from now on.
        """
        office = self.office(OWNER)
        return Response(office_config.change(office.id, dict(request.data)))


class ProcessView(OfficeView):
    @extend_schema(
        operation_id="process_jobs",
        responses=ProcessedOut,
        examples=[in_response("done", {"promoted": 2, "dispatched": 1})],
    )
    def post(self, request: Request, office_id: UUID) -> Response:
        """Promote ready jobs and fill free slots now. The engine also does this by itself."""
        return Response(ProcessedOut.write(lifecycle.advance_office(self.office(OPERATOR).id)))
