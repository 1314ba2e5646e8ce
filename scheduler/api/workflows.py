"""Workflows. Their runs are in runs.py."""

from typing import Annotated
from uuid import UUID

from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from pydantic import Field, WithJsonSchema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.access import require_access
from jobs.api.framework.authentication import user_of
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_request
from jobs.api.framework.reading import read, read_changes
from jobs.api.views import OPERATOR
from jobs.api_model import WHOLE, ApiIn, Object, OneOf, Uuid
from jobs.field_types import Name
from scheduler.access import workflow_for, workflows_of
from scheduler.api import examples
from scheduler.api.schedule_config import SCHEDULE_CONFIG
from scheduler.api.schemas import WorkflowOut
from scheduler.clock import database_now
from scheduler.models import Workflow
from scheduler.states import WorkflowStatus
from scheduler.workflows import lifecycle as workflows

# scheduler/workflows/steps.py and recurrence.py read these.
Steps = list[Annotated[Object, WithJsonSchema({"x-component": "JobSubmissionRequest"})]]
ScheduleConfig = Annotated[Object, WithJsonSchema(SCHEDULE_CONFIG)]


class WorkflowIn(ApiIn):
    name: Name
    status: Annotated[str, OneOf(WorkflowStatus.choices)] = Field(
        WorkflowStatus.DRAFT.value, description="Only an active workflow runs without a request."
    )
    steps: Steps = Field(
        default_factory=list, description="The jobs of a run; `depends_on` names refs of other steps."
    )
    schedule_config: ScheduleConfig
    max_run_retries: Annotated[int, Field(ge=0, le=workflows.MAX_RUN_RETRIES), WHOLE] = Field(
        0, description="How often a failed run is tried again from its failed steps, by itself or by hand."
    )
    input_schema: Object | None = Field(
        None, description="The JSON Schema of a run's input, which steps read as `$input`; null accepts any."
    )


class NewWorkflowIn(WorkflowIn):
    office: Uuid = Field(description="The office that gets the jobs of a run.")


class WorkflowFilter(filters.FilterSet):  # type: ignore[misc]
    office = filters.UUIDFilter("office_id", help_text="Only those of this office.")
    status = filters.ChoiceFilter(choices=WorkflowStatus.choices, help_text="Only those in this state.")
    name = filters.CharFilter(lookup_expr="icontains", help_text="Only those with this in their name.")


class WorkflowsView(GenericAPIView[Workflow]):
    filterset_class = WorkflowFilter
    queryset = Workflow.objects.none()

    @extend_schema(operation_id="list_workflows", responses=list[WorkflowOut])
    def get(self, request: Request) -> Response:
        """List the workflows of your offices, by name."""
        page = self.paginate_queryset(self.filter_queryset(workflows_of(user_of(request))))
        return self.get_paginated_response([WorkflowOut.write(row) for row in page or ()])

    @extend_schema(
        operation_id="create_workflow",
        request=NewWorkflowIn,
        responses={201: WorkflowOut},
        examples=[in_request("a build every morning", examples.NEW_WORKFLOW)],
        extensions=problems("cycle", "not_found"),
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a workflow. The next run of an active workflow is scheduled at once."""
        values = read(NewWorkflowIn, request.data).values()
        office = require_access(user_of(request), values.pop("office"), OPERATOR).office
        workflow = workflows.create(office, values, now=database_now())
        location = request.build_absolute_uri(f"/api/workflows/{workflow.id}")
        return _workflow_response(request, workflow.id, 201, Location=location)


class OneWorkflowView(APIView):
    @extend_schema(operation_id="show_workflow", responses=WorkflowOut)
    def get(self, request: Request, workflow_id: UUID) -> Response:
        """Show a workflow."""
        return _workflow_response(request, workflow_id)

    @extend_schema(
        operation_id="change_workflow",
        request=WorkflowIn,
        responses=WorkflowOut,
        examples=[
            in_request("another time", examples.ANOTHER_TIME),
            in_request("not for now", {"status": "paused"}),
        ],
        extensions=problems("cycle"),
    )
    def patch(self, request: Request, workflow_id: UUID) -> Response:
        """Change a workflow. Its next run is rescheduled at once; a run in progress keeps its steps."""
        workflow_for(user_of(request), workflow_id, OPERATOR)
        values = read_changes(WorkflowIn, request.data)
        workflows.change(workflow_id, values, now=database_now())
        return _workflow_response(request, workflow_id)

    @extend_schema(operation_id="delete_workflow", responses={204: None})
    def delete(self, request: Request, workflow_id: UUID) -> Response:
        """Delete a workflow, with its runs. The jobs of a run in progress continue."""
        workflow_for(user_of(request), workflow_id, OPERATOR)
        workflows.remove(workflow_id, now=database_now())
        return Response(status=204)


def _workflow_response(request: Request, workflow_id: UUID, status: int = 200, **headers: str) -> Response:
    workflow = workflow_for(user_of(request), workflow_id)
    return Response(WorkflowOut.write(workflow), status=status, headers=headers)
