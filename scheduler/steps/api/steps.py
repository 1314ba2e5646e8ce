"""Enqueuing, listing, moving and removing the jobs of a step queue, and retrying their rollback."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from pydantic import Field
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.framework.authentication import user_of
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.reading import read
from jobs.api.views import OPERATOR
from jobs.api_model import WHOLE, ApiIn, Omittable, Uuid
from scheduler.steps import lifecycle, queues
from scheduler.steps.access import step_for
from scheduler.steps.api import examples, schemas
from scheduler.steps.api.views import QueueView
from scheduler.steps.models import Step, StepQueue
from scheduler.steps.states import (
    EMPTY_ARGS,
    EXPIRED_TIME,
    MAX_OPERATION_SECONDS,
    MAX_UNDO_RETRIES,
    NO_OPERATION,
    UNINIT,
)


class StepIn(ApiIn):
    forward_operation: Annotated[str, Field(min_length=1, max_length=100)] = Field(
        NO_OPERATION, description="The operation of the library that does the job."
    )
    backward_operation: Annotated[str, Field(min_length=1, max_length=100)] = Field(
        NO_OPERATION, description="The operation that rolls it back when this job or a later one fails."
    )
    arguments: Any = Field(
        default_factory=lambda: EMPTY_ARGS,
        description="The arguments of both operations. Of an object each takes the keys that it names. "
        "Of a list each takes as many values as it has parameters, in order. Any other value is the first "
        "argument.",
    )
    operation_library: Annotated[str, Field(min_length=1, max_length=100)] = Field(
        UNINIT, description="One of `GET /api/libraries`; by default the queue's."
    )
    expired_time: Annotated[float, Field(ge=0.001, le=MAX_OPERATION_SECONDS)] = Field(
        EXPIRED_TIME, description="The time limit of an operation, in seconds."
    )
    undo_retries: Omittable[Annotated[int, Field(ge=0, le=MAX_UNDO_RETRIES), WHOLE]] = Field(
        None,
        description="How often a backward operation that failed is retried. Default: as often as the "
        "operation says, or 3 times. With 0 its first failure is final.",
    )


class MoveIn(ApiIn):
    number: Omittable[Annotated[int, Field(ge=1), WHOLE]] = Field(
        None, description="The new position in the queue, from 1; without it nothing moves."
    )


class EnqueuedJobIn(ApiIn):
    job_id: Uuid = Field(description="A job of `POST /api/steps` that is in no queue yet.")


class StepsView(QueueView, GenericAPIView[Step]):
    @extend_schema(operation_id="list_steps", responses=list[schemas.StepOut])
    def get(self, request: Request, queue_id: int) -> Response:
        """List a queue's jobs in order."""
        steps = Step.objects.filter(queue=self.queue()).order_by("number")
        page = self.paginate_queryset(self.filter_queryset(steps))
        return self.get_paginated_response([schemas.step_json(step) for step in page or ()])

    @extend_schema(
        operation_id="enqueue_step",
        request=PolymorphicProxySerializer(
            "StepToEnqueue",
            [StepIn, EnqueuedJobIn],  # type: ignore[list-item]
            resource_type_field_name=None,
        ),
        responses={201: schemas.StepOut},
        examples=[
            in_request("reserve an address", examples.NEW_STEP),
            in_request("a job that exists", {"job_id": examples.STEP}),
        ],
        extensions=problems("queue_full", "unknown_library", "not_found", "queue_running", "job_in_queue"),
    )
    @idempotent
    def post(self, request: Request, queue_id: int) -> Response:
        """Append a new job to a queue, or with `job_id` an existing one. A running queue accepts none."""
        queue = self.queue(OPERATOR)
        if isinstance(request.data, Mapping) and "job_id" in request.data:
            job_id = read(EnqueuedJobIn, request.data).job_id
            step = queues.enqueue_job(queue.queue_id, step_for(user_of(request), job_id))
        else:
            step = queues.enqueue(queue.queue_id, read(StepIn, request.data).values())
        location = request.build_absolute_uri(f"/api/queues/{queue.queue_id}/jobs/{step.job_id}")
        return Response(schemas.step_json(step), status=201, headers={"Location": location})


class OneStepView(QueueView):
    @extend_schema(operation_id="show_step", responses=schemas.StepOut)
    def get(self, request: Request, queue_id: int, job_id: UUID) -> Response:
        """Show a job of a queue."""
        return Response(schemas.step_json(step_of(self.queue(), job_id)))

    @extend_schema(
        operation_id="move_step",
        request=MoveIn,
        responses=schemas.StepOut,
        examples=[in_request("to the beginning", {"number": 1})],
        extensions=problems("queue_running"),
    )
    def patch(self, request: Request, queue_id: int, job_id: UUID) -> Response:
        """Move a job within its queue. A running queue keeps its order."""
        queue = self.queue(OPERATOR)
        number = read(MoveIn, request.data).number
        if number is not None:
            queues.move_job(queue.queue_id, step_of(queue, job_id).job_id, number)
        return Response(schemas.step_json(step_of(queue, job_id)))

    @extend_schema(operation_id="remove_step", responses={204: None}, extensions=problems("queue_running"))
    def delete(self, request: Request, queue_id: int, job_id: UUID) -> Response:
        """Remove a job from a queue and delete it. What it has done is not rolled back."""
        queue = self.queue(OPERATOR)
        queues.remove_job(queue.queue_id, step_of(queue, job_id).job_id)
        return Response(status=204)


class RerunView(QueueView):
    @extend_schema(
        operation_id="rerun_backward",
        responses={202: schemas.StepQueueOut},
        examples=[in_response("accepted", examples.RUNNING_QUEUE)],
        extensions=problems("queue_running", "not_failed", "unknown_operation"),
    )
    def post(self, request: Request, queue_id: int, job_id: UUID) -> Response:
        """Retry a backward operation that has no retries left."""
        queue = self.queue(OPERATOR)
        lifecycle.rerun_backward(queue.queue_id, step_of(queue, job_id).job_id)
        return self.accepted_response(queue_id)


def step_of(queue: StepQueue, job_id: UUID) -> Step:
    return get_object_or_404(Step, queue=queue, job_id=job_id)
