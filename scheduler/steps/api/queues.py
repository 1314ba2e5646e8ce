"""Creating, listing, showing and deleting step queues."""

from typing import Annotated

from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.access import require_access
from jobs.api.framework.authentication import user_of
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.reading import read
from jobs.api.views import OPERATOR
from jobs.api_model import ApiIn, Omittable, Uuid
from scheduler.steps import queues
from scheduler.steps.access import queues_of
from scheduler.steps.api import examples, schemas
from scheduler.steps.api.views import QueueView
from scheduler.steps.job_checks import check_queue
from scheduler.steps.models import StepQueue
from scheduler.steps.states import UNINIT, QueueState


class QueueIn(ApiIn):
    name: Annotated[str, Field(max_length=200)] = ""
    queue_library: Annotated[str, Field(min_length=1, max_length=100)] = Field(
        UNINIT, description="The default library of the jobs: one of `GET /api/libraries`."
    )
    office: Uuid | None = Field(
        None, description="The office that owns the queue; without it, the caller does."
    )
    callback_url: Annotated[str, Field(max_length=2000)] = Field(
        "", description="A public URL that receives a signed message when a run has ended, as webhooks do."
    )


class CopyIn(ApiIn):
    name: Omittable[Annotated[str, Field(max_length=200)]] = Field(
        None, description="By default that of the queue."
    )


class QueueFilter(filters.FilterSet):  # type: ignore[misc]
    state = filters.ChoiceFilter(choices=QueueState.choices, help_text="Only queues in this state.")
    office = filters.UUIDFilter("office_id", help_text="Only queues of this office.")
    queue_library = filters.CharFilter(help_text="Only queues with this library.")
    name = filters.CharFilter(lookup_expr="icontains", help_text="Only queues whose name contains this.")


class QueuesView(GenericAPIView[StepQueue]):
    filterset_class = QueueFilter
    queryset = StepQueue.objects.none()

    @extend_schema(operation_id="list_queues", responses=list[schemas.StepQueueOut])
    def get(self, request: Request) -> Response:
        """List your queues and those of your offices, newest first."""
        visible = queues_of(user_of(request)).select_related("owner").order_by("-queue_id")
        page = self.paginate_queryset(self.filter_queryset(visible))
        return self.get_paginated_response([schemas.StepQueueOut.write(queue) for queue in page or ()])

    @extend_schema(
        operation_id="create_queue",
        request=QueueIn,
        responses={201: schemas.NewStepQueueOut},
        examples=[
            in_request("for a machine", examples.NEW_QUEUE),
            in_response("without a callback", examples.QUEUE),
            in_response("with a callback", examples.NEW_QUEUE_WITH_CALLBACK),
        ],
        extensions=problems("unknown_library", "not_found"),
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a step queue. It is EMPTY and belongs to the caller, or with `office` to that office."""
        values = read(QueueIn, request.data).values()
        user, office_id = user_of(request), values.pop("office", None)
        office = require_access(user, office_id, OPERATOR).office if office_id else None
        return _created_response(
            request, queues.create(values, owner=user, office=office, now=timezone.now())
        )


class OneQueueView(QueueView):
    @extend_schema(operation_id="show_queue", responses=schemas.StepQueueOut)
    def get(self, request: Request, queue_id: int) -> Response:
        """Show a step queue."""
        return Response(schemas.StepQueueOut.write(self.queue()))

    @extend_schema(operation_id="delete_queue", responses={204: None}, extensions=problems("queue_running"))
    def delete(self, request: Request, queue_id: int) -> Response:
        """Delete a queue with its jobs and events. A running queue cannot be deleted."""
        queues.delete(self.queue(OPERATOR).queue_id)
        return Response(status=204)


class CopyView(QueueView):
    @extend_schema(
        operation_id="copy_queue",
        request=CopyIn,
        responses={201: schemas.NewStepQueueOut},
        examples=[
            in_request("under another name", {"name": "web-2"}),
            in_response("with its jobs", examples.COPIED_QUEUE),
        ],
    )
    @idempotent
    def post(self, request: Request, queue_id: int) -> Response:
        """Create a queue with the same library, office, callback and jobs. None of them has run."""
        source = self.queue(OPERATOR)
        name = read(CopyIn, request.data).name
        name = source.name if name is None else name
        queue = queues.copy(source.queue_id, owner=user_of(request), name=name, now=timezone.now())
        return _created_response(request, queue)


class CheckView(QueueView):
    @extend_schema(
        operation_id="check_queue",
        responses=schemas.StepQueueCheckOut,
        extensions=problems("queue_empty"),
    )
    def get(self, request: Request, queue_id: int) -> Response:
        """Check all jobs of a queue without running any. Also whether workers serve their roles."""
        return Response(schemas.queue_check_json(check_queue(self.queue())))


def _created_response(request: Request, queue: StepQueue) -> Response:
    body = schemas.NewStepQueueOut.write(queue)
    location = request.build_absolute_uri(f"/api/queues/{queue.queue_id}")
    return Response(body, status=201, headers={"Location": location})
