"""The REST API of step queues and operation libraries. Each view calls one verb and renders."""

import json
from typing import Any, cast
from uuid import UUID

from django.http import Http404, HttpResponseBase
from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.tasks import TaskPagination
from jobs.api.views import ACTS, accepted
from jobs.rest.authentication import user_of
from jobs.rest.filtering import PAGING, FilterBackend, refuse_unknown
from jobs.rest.idempotency import idempotent
from jobs.rest.pagination import PagePagination
from jobs.rest.problems import Problem
from jobs.rest.serializers import StrictSerializer
from jobs.states import MemberRole
from jobs.tenancy import enter
from scheduler.step_queues import bells, building, libraries, lifecycle, shapes
from scheduler.step_queues.access import queue_for, queues_of
from scheduler.step_queues.models import Step, StepEvent, StepQueue
from scheduler.step_queues.states import (
    EMPTY_ARGS,
    EXPIRED_TIME,
    NO_OPERATION,
    UNINIT,
    QueueState,
    StepEventType,
)

LONGEST_WAIT = 60
LONGEST_OPERATION = 86_400
MOST_EVENTS = 1_000


class QueueSerializer(StrictSerializer):
    name = serializers.CharField(default="", allow_blank=True, max_length=200)
    queue_library = serializers.CharField(default=UNINIT, max_length=100)
    office = serializers.UUIDField(default=None, allow_null=True)
    callback_url = serializers.CharField(default="", allow_blank=True, max_length=2000)


class StepSerializer(StrictSerializer):
    forward_operation = serializers.CharField(default=NO_OPERATION, max_length=100)
    backward_operation = serializers.CharField(default=NO_OPERATION, max_length=100)
    arguments = serializers.JSONField(default=lambda: EMPTY_ARGS)  # type: ignore[arg-type,return-value]
    operation_library = serializers.CharField(default=UNINIT, max_length=100)
    expired_time = serializers.FloatField(default=EXPIRED_TIME, min_value=0.001, max_value=LONGEST_OPERATION)


class QueueFilter(filters.FilterSet):  # type: ignore[misc]
    state = filters.ChoiceFilter(choices=QueueState.choices)
    office = filters.UUIDFilter("office_id")
    queue_library = filters.CharFilter()
    name = filters.CharFilter(lookup_expr="icontains")

    class Meta:
        model = StepQueue
        fields: tuple[str, ...] = ()


class QueueView(GenericAPIView[Any]):
    """A view of one queue."""

    pagination_class: Any = None
    filter_backends: Any = ()
    serializer_class: Any = QueueSerializer

    def queue(self, needed: str = MemberRole.VIEWER) -> StepQueue:
        return queue_for(user_of(self.request), self.kwargs["queue_id"], needed)

    def accepted(self, queue_id: int) -> Response:
        location = self.request.build_absolute_uri(f"/api/queues/{queue_id}")
        return accepted(shapes.queue(_fresh(queue_id)), location)


@extend_schema(tags=["step queues"])
class QueuesView(GenericAPIView[StepQueue]):
    serializer_class = QueueSerializer
    pagination_class = PagePagination
    filter_backends = (FilterBackend,)
    filterset_class = QueueFilter
    queryset = StepQueue.objects.none()

    @extend_schema(operation_id="list_queues", responses=shapes.QueueDocument(many=True))
    def get(self, request: Request) -> Response:
        """The caller's queues and those of their offices, the newest first."""
        found = queues_of(user_of(request)).select_related("owner").order_by("-queue_id")
        page = self.paginate_queryset(self.filter_queryset(found))
        return self.get_paginated_response([shapes.queue(one) for one in page or ()])

    @extend_schema(operation_id="create_queue", responses={201: shapes.NewQueueDocument})
    @idempotent
    def post(self, request: Request) -> Response:
        """Make a queue. It is EMPTY, and the caller's; with `office`, that office's."""
        given = _read(QueueSerializer(data=request.data))
        user, office_id = user_of(request), given.pop("office")
        office = enter(user, office_id, ACTS).office if office_id else None
        made = building.create(given, owner=user, office=office, now=timezone.now())
        shown = shapes.queue(made)
        if made.callback_secret:
            shown["callback_secret"] = made.callback_secret
        location = request.build_absolute_uri(f"/api/queues/{made.queue_id}")
        return Response(shown, status=201, headers={"Location": location})


@extend_schema(tags=["step queues"])
class OneQueueView(QueueView):
    @extend_schema(operation_id="show_queue", responses=shapes.QueueDocument)
    def get(self, request: Request, queue_id: int) -> Response:
        """One queue."""
        return Response(shapes.queue(self.queue()))

    @extend_schema(operation_id="delete_queue", responses={204: None})
    def delete(self, request: Request, queue_id: int) -> Response:
        """Delete it with its jobs and its events, unless it runs (409)."""
        building.remove(self.queue(ACTS).queue_id)
        return Response(status=204)


@extend_schema(tags=["step queues"])
class StepsView(QueueView):
    serializer_class = StepSerializer
    pagination_class = PagePagination
    filter_backends = (FilterBackend,)
    queryset = Step.objects.none()

    @extend_schema(operation_id="list_steps", responses=shapes.StepDocument(many=True))
    def get(self, request: Request, queue_id: int) -> Response:
        """The queue's jobs, in their order."""
        found = Step.objects.filter(queue=self.queue()).order_by("number")
        page = self.paginate_queryset(self.filter_queryset(found))
        return self.get_paginated_response([shapes.step(one) for one in page or ()])

    @extend_schema(operation_id="enqueue_step", responses={201: shapes.StepDocument})
    @idempotent
    def post(self, request: Request, queue_id: int) -> Response:
        """Enqueue a job behind the last one, while the queue is EMPTY or READY (409)."""
        queue = self.queue(ACTS)
        made = building.enqueue(queue.queue_id, _read(StepSerializer(data=request.data)))
        location = request.build_absolute_uri(f"/api/queues/{queue.queue_id}/jobs/{made.job_id}")
        return Response(shapes.step(made), status=201, headers={"Location": location})


def step_of(queue: StepQueue, job_id: UUID) -> Step:
    found = Step.objects.filter(queue=queue, job_id=job_id).first()
    if found is None:
        raise Http404
    return found


@extend_schema(tags=["step queues"])
class OneStepView(QueueView):
    @extend_schema(operation_id="show_step", responses=shapes.StepDocument)
    def get(self, request: Request, queue_id: int, job_id: UUID) -> Response:
        """One job."""
        return Response(shapes.step(step_of(self.queue(), job_id)))


@extend_schema(tags=["step queues"])
class RerunView(QueueView):
    @extend_schema(operation_id="rerun_backward", request=None, responses={202: shapes.QueueDocument})
    def post(self, request: Request, queue_id: int, job_id: UUID) -> Response:
        """Run the backward operation of a job again that failed with all its retries (409 otherwise)."""
        queue = self.queue(ACTS)
        lifecycle.rerun_backward(queue.queue_id, step_of(queue, job_id).job_id)
        return self.accepted(queue_id)


@extend_schema(tags=["step queues"])
class CancelView(QueueView):
    @extend_schema(operation_id="cancel_queue", request=None, responses={202: shapes.QueueDocument})
    def post(self, request: Request, queue_id: int) -> Response:
        """Have a run turn back from where it is (409 when it does not walk forward)."""
        lifecycle.cancel(self.queue(ACTS).queue_id)
        return self.accepted(queue_id)


@extend_schema(tags=["step queues"])
class RunView(QueueView):
    @extend_schema(
        operation_id="run_queue",
        request=None,
        parameters=[OpenApiParameter("wait", float, description=f"Seconds, at most {LONGEST_WAIT}.")],
        responses={202: shapes.QueueDocument, 200: shapes.QueueDocument},
    )
    def post(self, request: Request, queue_id: int) -> HttpResponseBase:
        """Run it from its first job. With `wait`, 200 and the return message once this run has ended."""
        refuse_unknown(request, ("wait",))
        seconds = _wait_of(request)
        queue = self.queue(ACTS)
        if seconds:
            bells.watch(queue.queue_id, seconds + 1)
        started = self._start(request)
        if not seconds:
            return started
        # Outside of the transaction in which an Idempotency-Key is kept: nothing would be sent in it.
        number = _run_of(started)
        ended = bells.wait(queue.queue_id, lambda: _end_of(queue.queue_id, number), seconds)
        if ended is None:
            return started
        found = shapes.queue(_fresh(queue.queue_id))
        # Another run may have begun since: the answer is about this one.
        return Response(found | {"run": number} | ended.details)

    post.is_idempotent = True  # type: ignore[attr-defined]  # the API's schema shows the header

    @idempotent
    def _start(self, request: Request) -> Response:
        queue_id = self.kwargs["queue_id"]
        lifecycle.run(queue_id)
        return self.accepted(queue_id)


@extend_schema(tags=["step queues"])
class EventsView(QueueView):
    @extend_schema(
        operation_id="list_queue_events",
        responses=shapes.StepEventListDocument,
        parameters=[
            OpenApiParameter("after", int, description="Only later ones.", default=0),
            OpenApiParameter("limit", int, description=f"1 to {MOST_EVENTS}.", default=100),
        ],
    )
    def get(self, request: Request, queue_id: int) -> Response:
        """What happened to the queue, in order and without a gap."""
        refuse_unknown(request, ("after", "limit"))
        after = _number(request, "after", 0, 0, 2**63 - 1)
        limit = _number(request, "limit", 100, 1, MOST_EVENTS)
        found = StepEvent.objects.filter(queue=self.queue(), id__gt=after).order_by("id")[:limit]
        results = [shapes.event(one) for one in found]
        return Response({"results": results, "next_after": results[-1]["id"] if results else after})


@extend_schema(tags=["step queues"])
class LibrariesView(GenericAPIView[Any]):
    pagination_class = TaskPagination
    filter_backends = ()

    @extend_schema(operation_id="list_libraries", responses=shapes.LibraryDocument(many=True))
    def get(self, request: Request) -> Response:
        """The operation libraries, each with its operations and what they take."""
        refuse_unknown(request, PAGING)
        names: Any = libraries.names()
        page = self.paginate_queryset(names) or []
        return self.get_paginated_response([shapes.library(name) for name in page])


@extend_schema(tags=["step queues"])
class OneLibraryView(GenericAPIView[Any]):
    pagination_class = None
    filter_backends = ()

    @extend_schema(operation_id="show_library", responses=shapes.LibraryDocument)
    def get(self, request: Request, name: str) -> Response:
        """One operation library."""
        if name not in libraries.names():
            raise Problem(404, "not_found", f"No library {name[:100]!r} is registered.")
        return Response(shapes.library(name))


def _read(serializer: StrictSerializer) -> dict[str, Any]:
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def _fresh(queue_id: int) -> StepQueue:
    return StepQueue.objects.select_related("owner").get(pk=queue_id)


def _end_of(queue_id: int, number: int) -> StepEvent | None:
    finished = StepEvent.objects.filter(queue=queue_id, run=number, type=StepEventType.FINISHED)
    return finished.order_by("id").first()


def _run_of(started: HttpResponseBase) -> int:
    """Which run was started, by this request or by the first one with its Idempotency-Key."""
    data = getattr(started, "data", None)
    return int((data or json.loads(cast(Any, started).content))["run"])


def _wait_of(request: Request) -> float:
    text = request.query_params.get("wait", "0")
    sentence = f"Must be a number of seconds, 0 to {LONGEST_WAIT}."
    try:
        seconds = float(text) if len(text) < 20 else -1.0
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST_WAIT:
        raise Problem(400, "invalid", f"wait: {sentence}", errors={"wait": [sentence]})
    return seconds


def _number(request: Request, name: str, default: int, low: int, high: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= 19 else -1
    if not low <= number <= high:
        sentence = f"Must be a whole number from {low} to {high}."
        raise Problem(400, "invalid", f"{name}: {sentence}", errors={name: [sentence]})
    return number
