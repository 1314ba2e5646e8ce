"""The registered Tasks."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import catalogue
from jobs.api import documents
from jobs.api.framework.filtering import PAGING, reject_unknown
from jobs.api.framework.pagination import PagePagination
from jobs.api.framework.problem_details import Problem
from jobs.insight.offers import Service, service_of, services
from jobs.known_tasks import KnownTask, UnknownTask
from jobs.serialize import iso_time


def task_json(task: KnownTask, service: Service) -> dict[str, Any]:
    newest = service.newest
    return {
        "task_id": task.task_id,
        "description": task.description,
        "role": task.role,
        "args_schema": task.schema,
        "timeout_ms": int(task.timeout * 1000) if task.timeout is not None else None,
        "max_retries": task.max_retries,
        "retry_base_delay": int(task.retry_backoff * 1000) if task.retry_backoff is not None else None,
        "on_lost": task.on_lost,
        "atomic": task.atomic,
        "available": service.is_available,
        "seen_at": iso_time(service.seen_at),
        "package": newest.package if newest else "",
        "version": newest.version if newest else "",
        "code_digest": newest.code_digest if newest else "",
        "schemas_differ": service.schemas_differ,
    }


class TaskPagination(PagePagination):
    """Pages of a list in memory."""

    def count_of(self, queryset: QuerySet[Any]) -> int:
        return len(queryset)


class TaskListView(GenericAPIView[Any]):
    """The Tasks that jobs, schedules and workflows can run."""

    pagination_class = TaskPagination
    filter_backends = ()

    @extend_schema(
        operation_id="list_tasks",
        tags=["tasks"],
        summary="List the registered Tasks",
        responses=documents.TaskDocument(many=True),
    )
    def get(self, request: Request) -> Response:
        reject_unknown(request, PAGING)
        tasks: Any = [task for task in catalogue.all_tasks() if task.public]
        page = self.paginate_queryset(tasks) or []
        offered = services([(task.task_id, task.role) for task in page])
        return self.get_paginated_response([task_json(task, offered[task.task_id]) for task in page])


class TaskDetailView(GenericAPIView[Any]):
    """A Task's arguments and options."""

    pagination_class = None
    filter_backends = ()

    @extend_schema(
        operation_id="get_task", tags=["tasks"], summary="One Task", responses=documents.TaskDocument
    )
    def get(self, request: Request, task_id: str) -> Response:
        try:
            task = catalogue.find(task_id)
        except UnknownTask as error:
            raise Problem(404, "not_found", str(error)) from None
        if not task.public:
            raise Problem(404, "not_found", str(UnknownTask(task_id)))
        return Response(task_json(task, service_of(task.task_id, task.role)))
