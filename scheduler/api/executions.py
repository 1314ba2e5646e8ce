"""Runs of Tasks: started by hand, listed, looked at, cancelled."""

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import lifecycle as engine
from jobs import registry
from jobs.api.codes import ENDED
from jobs.api.views import ACTS, accepted
from jobs.errors import Conflict
from jobs.models import Execution
from jobs.rest.authentication import user_of
from jobs.rest.filtering import FilterBackend
from jobs.rest.idempotency import idempotent
from jobs.rest.pagination import RoughPagination
from jobs.rest.serializers import StrictSerializer
from jobs.states import EXECUTION_ENDED, ExecutionStatus, Trigger
from jobs.tenancy import enter
from scheduler.access import executions_of, may_cancel
from scheduler.api import shapes
from scheduler.api.documents import ExecutionDocument
from scheduler.lifecycle.manual import run_task


class RunSerializer(StrictSerializer):
    args = serializers.DictField(default=dict)


@extend_schema(tags=["tasks"])
class RunTaskView(GenericAPIView[Execution]):
    pagination_class = None
    filter_backends = ()
    serializer_class = RunSerializer

    @extend_schema(
        operation_id="run_task",
        responses={202: inline_serializer("StartedExecution", {"execution_id": serializers.UUIDField()})},
    )
    @idempotent
    def post(self, request: Request, task_id: str) -> Response:
        """Run a Task now: a new Execution, or 409 while a scheduled or manual one of it has not ended."""
        try:
            public = registry.find(task_id).public
        except registry.UnknownTask:
            public = False
        if not public:
            raise Http404
        read = RunSerializer(data=request.data)
        read.is_valid(raise_exception=True)
        execution = run_task(task_id, read.validated_data["args"], user_id=user_of(request).pk)
        location = request.build_absolute_uri(f"/api/executions/{execution}")
        return accepted({"execution_id": str(execution)}, location)


class ExecutionFilter(filters.FilterSet):  # type: ignore[misc]
    task_id = filters.CharFilter()
    trigger = filters.ChoiceFilter(choices=Trigger.choices)
    status = filters.MultipleChoiceFilter(choices=ExecutionStatus.choices)
    schedule = filters.UUIDFilter(method="of_schedule")

    class Meta:
        model = Execution
        fields: tuple[str, ...] = ()

    def of_schedule(self, found: QuerySet[Execution], name: str, schedule: UUID) -> QuerySet[Execution]:
        return found.filter(trigger=Trigger.SCHEDULE, source=str(schedule))


# Words of the language, which a class body cannot say.
ExecutionFilter.base_filters["from"] = filters.IsoDateTimeFilter("created_at", "gte")
ExecutionFilter.base_filters["to"] = filters.IsoDateTimeFilter("created_at", "lt")


@extend_schema(tags=["executions"])
class ExecutionsView(GenericAPIView[Execution]):
    serializer_class = ExecutionDocument
    pagination_class = RoughPagination
    filter_backends = (FilterBackend,)
    filterset_class = ExecutionFilter
    queryset = Execution.objects.none()

    @extend_schema(operation_id="list_executions", responses=ExecutionDocument(many=True))
    def get(self, request: Request) -> Response:
        """The runs that the caller may see, the newest first."""
        # Ids grow with time.
        found = executions_of(user_of(request)).order_by("-id").prefetch_related("attempts")
        page = self.paginate_queryset(self.filter_queryset(found))
        return self.get_paginated_response([shapes.execution(one) for one in page or ()])


class ExecutionView(GenericAPIView[Execution]):
    pagination_class = None
    filter_backends = ()
    serializer_class = ExecutionDocument

    def execution(self) -> Execution:
        found = executions_of(user_of(self.request)).filter(pk=self.kwargs["execution_id"]).first()
        if found is None:
            raise Http404
        return found


@extend_schema(tags=["executions"])
class OneExecutionView(ExecutionView):
    @extend_schema(operation_id="show_execution", responses=ExecutionDocument)
    def get(self, request: Request, execution_id: UUID) -> Response:
        """One run, with its attempts."""
        return Response(shapes.execution(self.execution()))


@extend_schema(tags=["executions"])
class CancelExecutionView(ExecutionView):
    @extend_schema(operation_id="cancel_execution", request=None, responses={202: ExecutionDocument})
    def post(self, request: Request, execution_id: UUID) -> Response:
        """Cancel it, or ask it to stop while it runs."""
        execution = self.execution()
        if execution.job_id is not None and execution.office_id is not None:
            enter(user_of(request), execution.office_id, ACTS)
            if execution.status in EXECUTION_ENDED:
                raise Conflict("This Execution has ended.", code=ENDED)
            engine.cancel(execution.office_id, [execution.job_id], actor=user_of(request).get_username())
        elif not may_cancel(user_of(request), execution):
            raise PermissionDenied("Staff may look at somebody's Execution, and nothing else.")
        elif engine.cancel_execution(execution.id) is None:
            raise Conflict("This Execution has ended.", code=ENDED)
        execution.refresh_from_db()
        return accepted(
            shapes.execution(execution), request.build_absolute_uri(f"/api/executions/{execution_id}")
        )
