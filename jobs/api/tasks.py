"""The registered Tasks."""

from typing import Annotated, Any

from drf_spectacular.utils import extend_schema, extend_schema_serializer
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs import catalogue
from jobs.api import examples
from jobs.api.framework.lists import ListView
from jobs.api.framework.openapi_examples import in_response
from jobs.api.framework.problem_details import Problem
from jobs.api_model import JSON, AnyOf, ApiOut, Time
from jobs.insight.offers import Service, service_of, services
from jobs.known_tasks import KnownTask, UnknownTask
from jobs.states import OnLost


@extend_schema_serializer(examples=[in_response("a Task", examples.TASK)])
class TaskOut(ApiOut):
    task_id: str
    description: str
    role: str = Field(description="The role whose workers run it, unless the job names another.")
    args_schema: JSON = Field(validation_alias="schema", description="JSON Schema of `args`.")
    timeout_ms: int | None = Field(description="Null: the office's setting.")
    max_retries: int | None = Field(description="Null: the office's setting.")
    retry_base_delay: int | None = Field(
        validation_alias="retry_base_delay_ms", description="In milliseconds. Null: the office's setting."
    )
    on_lost: Annotated[str, AnyOf(OnLost.choices)] = Field(description="What happens if its worker dies.")
    atomic: bool = Field(description="Its database writes commit together with its result.")
    exclusive: bool = Field(
        description="Whether an office, or a user whose runs have no office, has one run at a time."
    )
    rate_limit: str | None = Field(
        description="The starts in a second, minute, hour or day, such as `10/m`. Null: any."
    )
    available: bool = Field(description="Whether an online worker has it and serves its role.")
    seen_at: Time | None = Field(description="When a worker that has it was last heard of. Null: never.")
    package: str = Field(description="The installed package of its code; empty if there is none.")
    version: str = Field(description="The version of that package.")
    code_digest: str = Field(description="SHA-256 of the file of its code; empty before a worker.")
    schemas_differ: bool = Field(description="Whether online workers have different schemas.")
    limits_differ: bool = Field(
        description="Whether online workers have a different `exclusive` or `rate_limit`."
    )


def task_json(task: KnownTask, service: Service) -> JSON:
    newest = service.newest
    return TaskOut.write(
        task,
        available=service.is_available,
        seen_at=service.seen_at,
        package=newest.package if newest else "",
        version=newest.version if newest else "",
        code_digest=newest.code_digest if newest else "",
        schemas_differ=service.schemas_differ,
        limits_differ=service.limits_differ,
    )


class TaskListView(ListView[Any]):
    @extend_schema(operation_id="list_tasks", responses=list[TaskOut])
    def get(self, request: Request) -> Response:
        """List the registered Tasks. The Tasks that jobs, schedules and workflows can run."""
        page = self.page_of(catalogue.public_tasks())
        offered = services([(task.task_id, task.role) for task in page])
        return self.get_paginated_response([task_json(task, offered[task.task_id]) for task in page])


class TaskDetailView(APIView):
    @extend_schema(operation_id="get_task", responses=TaskOut)
    def get(self, request: Request, task_id: str) -> Response:
        """One Task. A Task's arguments and options."""
        task = catalogue.find_public(task_id)
        if task is None:
            raise Problem(404, "not_found", str(UnknownTask(task_id)))
        return Response(task_json(task, service_of(task.task_id, task.role)))
