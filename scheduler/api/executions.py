"""Executions: run a Task by hand, list, show, cancel."""

from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs import catalogue
from jobs import lifecycle as engine
from jobs.access import require_access
from jobs.api.framework.authentication import user_of
from jobs.api.framework.filtering import TimeFilter
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.pagination import RoughPagination
from jobs.api.framework.reading import read
from jobs.api.views import OPERATOR, accepted_response
from jobs.api_model import ApiIn, ApiOut, Object
from jobs.errors import Conflict
from jobs.keyset import NewestOfParts
from jobs.models import Execution
from jobs.states import EXECUTION_ENDED, ExecutionStatus, Trigger
from scheduler.access import executions_by_cause, executions_of, may_cancel
from scheduler.api import examples, shapes
from scheduler.api.schemas import ExecutionOut
from scheduler.manual_runs import run_task
from scheduler.schedules.history import of_schedule


class RunIn(ApiIn):
    args: Object = Field(default_factory=dict, description="Arguments that match the Task's `args_schema`.")


class StartedExecutionOut(ApiOut):
    execution_id: UUID


class RunTaskView(APIView):
    @extend_schema(
        operation_id="run_task",
        request=RunIn,
        responses={202: StartedExecutionOut},
        examples=[
            in_request("a sum", {"args": {"numbers": [1, 2, 3]}}),
            in_response("accepted", {"execution_id": examples.EXECUTION}),
        ],
        extensions=problems("already_running"),
    )
    @idempotent
    def post(self, request: Request, task_id: str) -> Response:
        """Run a Task now. 409 while another run of it, manual or by a schedule of yours, has not ended."""
        if catalogue.find_public(task_id) is None:
            raise Http404
        args = read(RunIn, request.data).args
        execution = run_task(task_id, args, owner_id=user_of(request).pk)
        location = request.build_absolute_uri(f"/api/executions/{execution}")
        return accepted_response({"execution_id": str(execution)}, location)


class ExecutionFilter(filters.FilterSet):  # type: ignore[misc]
    task_id = filters.CharFilter(help_text="Only those of this Task.")
    trigger = filters.ChoiceFilter(choices=Trigger.choices, help_text="Only those with this trigger.")
    status = filters.MultipleChoiceFilter(
        choices=ExecutionStatus.choices, help_text="One state, or several by repeating the parameter."
    )
    schedule = filters.UUIDFilter(method="by_schedule", help_text="Only those of this schedule.")

    def by_schedule(self, rows: QuerySet[Execution], name: str, schedule: UUID) -> QuerySet[Execution]:
        return rows.filter(of_schedule(schedule))


# `from` is a keyword, so it cannot be a class attribute.
ExecutionFilter.base_filters["from"] = TimeFilter(
    "created_at", "gte", help_text="Only those created at this time or later."
)
ExecutionFilter.base_filters["to"] = TimeFilter(
    "created_at", "lt", help_text="Only those created before this time."
)


class ExecutionPagination(RoughPagination):
    """Counts a list that consists of several querysets."""

    def count_of(self, queryset: Any) -> int:
        return sum(super(ExecutionPagination, self).count_of(part) for part in queryset.parts)


class ExecutionsView(GenericAPIView[Execution]):
    pagination_class = ExecutionPagination
    filterset_class = ExecutionFilter
    queryset = Execution.objects.none()

    @extend_schema(operation_id="list_executions", responses=list[ExecutionOut])
    def get(self, request: Request) -> Response:
        """List the runs that you may see, newest first."""
        parts = [self.filter_queryset(part) for part in executions_by_cause(user_of(request))]
        newest: Any = NewestOfParts(parts, Execution.objects.prefetch_related(shapes.attempts_of_lists()))
        page = self.paginate_queryset(newest)
        return self.get_paginated_response(shapes.executions_json(page or ()))


class ExecutionView(APIView):
    def execution(self) -> Execution:
        return get_object_or_404(executions_of(user_of(self.request)), pk=self.kwargs["execution_id"])


class OneExecutionView(ExecutionView):
    @extend_schema(operation_id="show_execution", responses=ExecutionOut)
    def get(self, request: Request, execution_id: UUID) -> Response:
        """Show a run, with its attempts."""
        return Response(shapes.execution_json(self.execution()))


class CancelExecutionView(ExecutionView):
    @extend_schema(
        operation_id="cancel_execution",
        responses={202: ExecutionOut},
        examples=[in_response("the run had not started", examples.EXECUTION_CANCELLED)],
        extensions=problems("ended"),
    )
    def post(self, request: Request, execution_id: UUID) -> Response:
        """Cancel a run. A run in progress gets a cancellation request."""
        execution = self.execution()
        if execution.job_id is not None and execution.office_id is not None:
            require_access(user_of(request), execution.office_id, OPERATOR)
            if execution.status in EXECUTION_ENDED:
                raise Conflict("ended", status=execution.status)
            engine.cancel(execution.office_id, [execution.job_id], actor=user_of(request).get_username())
        elif not may_cancel(user_of(request), execution):
            raise PermissionDenied("Staff have read-only access to other users' Executions.")
        elif engine.cancel_execution(execution.id) is None:
            raise Conflict("ended", status=execution.status)
        execution.refresh_from_db()
        return accepted_response(
            shapes.execution_json(execution), request.build_absolute_uri(f"/api/executions/{execution_id}")
        )
