"""Pause and resume all schedules of a Task."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.framework.authentication import user_of
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.reading import read
from jobs.api_model import ApiIn, ApiOut
from jobs.field_types import Name
from scheduler.clock import database_now
from scheduler.schedules import lifecycle as schedules


class TaskIn(ApiIn):
    task_id: Name


class PausedSchedulesOut(ApiOut):
    paused: int


class ResumedSchedulesOut(ApiOut):
    resumed: int


OF_TASK = in_request("of a Task", {"task_id": "demo.sum"})


class PauseSchedulesView(APIView):
    @extend_schema(
        operation_id="pause_schedules",
        request=TaskIn,
        responses=PausedSchedulesOut,
        examples=[OF_TASK, in_response("two were enabled", {"paused": 2})],
    )
    def post(self, request: Request) -> Response:
        """Pause all your schedules of a Task."""
        task_id = read(TaskIn, request.data).task_id
        return Response({"paused": schedules.pause_all(task_id, owner=user_of(request), now=database_now())})


class ResumeSchedulesView(APIView):
    @extend_schema(
        operation_id="resume_schedules",
        request=TaskIn,
        responses=ResumedSchedulesOut,
        examples=[OF_TASK, in_response("two were paused", {"resumed": 2})],
    )
    def post(self, request: Request) -> Response:
        """Resume all your schedules of a Task. Their rules count from now on."""
        task_id = read(TaskIn, request.data).task_id
        count = schedules.resume_all(task_id, owner=user_of(request), now=database_now())
        return Response({"resumed": count})
