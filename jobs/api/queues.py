"""The queues of all roles, for staff: list, pause, resume. Those of /api/queues are step queues."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.permissions import IsAdminUser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs import queues
from jobs.api.framework.authentication import user_of
from jobs.api.framework.lists import ListView
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.reading import read
from jobs.api_model import ApiIn, ApiOut, Omittable, Time
from jobs.field_types import Reason

PAUSED = {
    "role": "FE",
    "served": True,
    "paused": {"since": "2026-12-01T09:00:00+09:00", "by": "root", "reason": "the shop is being moved"},
}
RESUMED = {**PAUSED, "paused": None}


class PauseIn(ApiIn):
    reason: Omittable[Reason] = Field(None, description="Everybody whose job waits can read it.")


class RolePauseOut(ApiOut):
    since: Time
    by: str
    reason: str


class RoleQueueOut(ApiOut):
    role: str
    served: bool = Field(validation_alias="is_served", description="Whether an online worker serves it.")
    paused: RolePauseOut | None = Field(validation_alias="pause", description="Null unless it is paused.")


class _QueueView(APIView):
    permission_classes = (IsAdminUser,)

    def queue(self, role: str) -> queues.Queue:
        queue = queues.find_queue(role)
        if queue is None:
            raise Http404
        return queue


class QueueListView(_QueueView, ListView[Any]):
    @extend_schema(
        operation_id="list_roles",
        responses=list[RoleQueueOut],
        examples=[in_response("a paused one", PAUSED)],
    )
    def get(self, request: Request) -> Response:
        """List the roles, and whether their queues are paused. Staff only."""
        return self.list_response(queues.queues(), RoleQueueOut.write)


class PauseQueueView(_QueueView):
    @extend_schema(
        operation_id="pause_role",
        request=PauseIn,
        responses=RoleQueueOut,
        examples=[
            in_request("with a reason", {"reason": "the shop is being moved"}),
            in_response("paused", PAUSED),
        ],
    )
    def post(self, request: Request, role: str) -> Response:
        """Pause the queue of a role.

        Staff only. No run of the role starts, in any office and by any trigger, until it is resumed; runs
        that have started go on. A queue that is paused already stays as it is.
        """
        reason = read(PauseIn, request.data).reason or ""
        self.queue(role)
        queues.pause_queue(role, user_of(request), reason)
        return Response(RoleQueueOut.write(self.queue(role)))


class ResumeQueueView(_QueueView):
    @extend_schema(
        operation_id="resume_role",
        responses=RoleQueueOut,
        examples=[in_response("resumed", RESUMED)],
    )
    def post(self, request: Request, role: str) -> Response:
        """Resume the queue of a role.

        Staff only. What has waited starts at once. A queue that is not paused stays as it is.
        """
        self.queue(role)
        queues.resume_queue(role, user_of(request))
        return Response(RoleQueueOut.write(self.queue(role)))
