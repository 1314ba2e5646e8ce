"""Step queues: made, listed, shown, deleted."""

from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.access import enter
from jobs.api.framework.authentication import user_of
from jobs.api.framework.filtering import FilterBackend
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import refuses
from jobs.api.framework.openapi_examples import answered, asked
from jobs.api.framework.pagination import PagePagination
from jobs.api.framework.serializers import StrictSerializer
from jobs.api.views import ACTS
from scheduler.steps import queues, shapes
from scheduler.steps.access import queues_of
from scheduler.steps.api import examples
from scheduler.steps.api.views import QueueView, read
from scheduler.steps.models import StepQueue
from scheduler.steps.states import UNINIT, QueueState


class QueueSerializer(StrictSerializer):
    name = serializers.CharField(default="", allow_blank=True, max_length=200)
    queue_library = serializers.CharField(
        default=UNINIT, max_length=100, help_text="For jobs that name none: one of `GET /api/libraries`."
    )
    office = serializers.UUIDField(
        default=None, allow_null=True, help_text="Whose it is; yours, unless given."
    )
    callback_url = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=2000,
        help_text="Told when a run has ended, by a signed message as webhooks are; a public address.",
    )


class QueueFilter(filters.FilterSet):  # type: ignore[misc]
    state = filters.ChoiceFilter(choices=QueueState.choices, help_text="Only those in this state.")
    office = filters.UUIDFilter("office_id", help_text="Only those of this office.")
    queue_library = filters.CharFilter(help_text="Only those with this library.")
    name = filters.CharFilter(lookup_expr="icontains", help_text="Only those with this in their name.")

    class Meta:
        model = StepQueue
        fields: tuple[str, ...] = ()


@extend_schema(tags=["step queues"])
class QueuesView(GenericAPIView[StepQueue]):
    serializer_class = QueueSerializer
    pagination_class = PagePagination
    filter_backends = (FilterBackend,)
    filterset_class = QueueFilter
    queryset = StepQueue.objects.none()

    @extend_schema(operation_id="list_queues", responses=shapes.QueueDocument(many=True))
    def get(self, request: Request) -> Response:
        """List your queues and those of your offices, the newest first."""
        found = queues_of(user_of(request)).select_related("owner").order_by("-queue_id")
        page = self.paginate_queryset(self.filter_queryset(found))
        return self.get_paginated_response([shapes.queue(one) for one in page or ()])

    @extend_schema(
        operation_id="create_queue",
        responses={201: shapes.NewQueueDocument},
        examples=[
            asked("for a machine", examples.NEW_QUEUE),
            answered("without a callback", examples.QUEUE),
            answered("with a callback", examples.NEW_QUEUE_WITH_CALLBACK),
        ],
        extensions=refuses("unknown_library", "not_found"),
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Make a step queue. It is EMPTY, and the caller's; with `office`, that office's."""
        given = read(QueueSerializer(data=request.data))
        user, office_id = user_of(request), given.pop("office")
        office = enter(user, office_id, ACTS).office if office_id else None
        made = queues.create(given, owner=user, office=office, now=timezone.now())
        shown = shapes.queue(made)
        if made.callback_secret:
            shown["callback_secret"] = made.callback_secret
        location = request.build_absolute_uri(f"/api/queues/{made.queue_id}")
        return Response(shown, status=201, headers={"Location": location})


@extend_schema(tags=["step queues"])
class OneQueueView(QueueView):
    @extend_schema(operation_id="show_queue", responses=shapes.QueueDocument)
    def get(self, request: Request, queue_id: int) -> Response:
        """One step queue."""
        return Response(shapes.queue(self.queue()))

    @extend_schema(operation_id="delete_queue", responses={204: None}, extensions=refuses("queue_running"))
    def delete(self, request: Request, queue_id: int) -> Response:
        """Delete a queue, with its jobs and its events. Not while it runs."""
        queues.remove(self.queue(ACTS).queue_id)
        return Response(status=204)
