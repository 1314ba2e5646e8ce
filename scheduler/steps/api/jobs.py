"""Jobs of step queues that are in no queue yet: create, list, show, delete."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.framework.authentication import user_of
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.reading import read
from jobs.api.views import OPERATOR
from scheduler.steps import queues
from scheduler.steps.access import step_for, steps_of
from scheduler.steps.api import examples, schemas
from scheduler.steps.api.steps import StepIn
from scheduler.steps.models import Step


class JobsView(GenericAPIView[Step]):
    @extend_schema(operation_id="list_unlinked_steps", responses=list[schemas.StepOut])
    def get(self, request: Request) -> Response:
        """List your jobs that are in no queue yet, oldest first."""
        steps = steps_of(user_of(request)).order_by("job_id")
        page = self.paginate_queryset(self.filter_queryset(steps))
        return self.get_paginated_response([schemas.step_json(step) for step in page or ()])

    @extend_schema(
        operation_id="create_step",
        request=StepIn,
        responses={201: schemas.StepOut},
        examples=[
            in_request("reserve an address", examples.NEW_STEP),
            in_response("in no queue yet", examples.UNLINKED_STEP),
        ],
        extensions=problems("unknown_library", "too_many_unlinked_jobs"),
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a job that is in no queue yet. POST /api/queues/:queue_id/jobs enqueues it."""
        step = queues.create_job(read(StepIn, request.data).values(), user_of(request))
        location = request.build_absolute_uri(f"/api/steps/{step.job_id}")
        return Response(schemas.step_json(step), status=201, headers={"Location": location})


class OneJobView(APIView):
    @extend_schema(operation_id="show_unlinked_step", responses=schemas.StepOut)
    def get(self, request: Request, job_id: UUID) -> Response:
        """Show a job of a step queue, whether it is enqueued or not."""
        return Response(schemas.step_json(step_for(user_of(request), job_id)))

    @extend_schema(operation_id="delete_step", responses={204: None}, extensions=problems("job_in_queue"))
    def delete(self, request: Request, job_id: UUID) -> Response:
        """Delete a job that is in no queue."""
        queues.delete_job(step_for(user_of(request), job_id, OPERATOR).job_id)
        return Response(status=204)
