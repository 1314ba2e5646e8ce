"""Endpoints for an external cron, which may call them at any time, also while beat runs.

Callers use their own credentials, or `Authorization: Bearer $CRON_SECRET`.
"""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.utils.crypto import constant_time_compare
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.framework.authentication import SessionAuthentication, TokenAuthentication
from jobs.api.framework.openapi_examples import in_response
from jobs.api_model import ApiOut
from scheduler.access import runs_of
from scheduler.api import examples
from scheduler.api.schemas import ScheduledJobOut
from scheduler.clock import database_now
from scheduler.models import WorkflowRun
from scheduler.workflows import lifecycle as workflows
from scheduler.workflows import runs


class CronCaller(AnonymousUser):
    """A caller with CRON_SECRET. It has no account and may use these endpoints only."""

    @property
    def is_authenticated(self) -> bool:  # type: ignore[override]
        return True


class CronSecret(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[CronCaller, None] | None:
        scheme, _, secret = request.headers.get("Authorization", "").strip().partition(" ")
        if scheme.lower() != "bearer":
            return None
        if not settings.CRON_SECRET or not constant_time_compare(secret.strip(), settings.CRON_SECRET):
            raise AuthenticationFailed("The secret is not valid.")
        return CronCaller(), None

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="scheduler"'


class CronSecretScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "scheduler.api.triggers.CronSecret"
    name = "cron"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "CRON_SECRET, for an external cron."}


class TriggerView(APIView):
    authentication_classes = [TokenAuthentication, SessionAuthentication, CronSecret]


class ExecutedOut(ApiOut):
    executed: list[ScheduledJobOut]


class RegisteredOut(ApiOut):
    created: int
    kept: int
    replaced: int
    removed: int


class CronView(TriggerView):
    @extend_schema(
        operation_id="register_runs",
        summary="Schedule the next run of every active workflow",
        description="Creates, keeps or replaces its pending run. A second call changes nothing.",
        responses=RegisteredOut,
        examples=[in_response("one was new", {"created": 1, "kept": 41, "replaced": 0, "removed": 0})],
    )
    def post(self, request: Request) -> Response:
        return Response(RegisteredOut.write(workflows.schedule_all(database_now())))


STARTED = ("one was due", {"executed": [examples.RUN_STARTED]})


class ExecuteDueView(TriggerView):
    @extend_schema(
        operation_id="execute_due_now",
        responses=ExecutedOut,
        examples=[in_response(*STARTED)],
    )
    def get(self, request: Request) -> Response:
        """Start the due runs, for a cron that can only send GET."""
        return self.post(request)

    @extend_schema(operation_id="execute_due", responses=ExecutedOut, examples=[in_response(*STARTED)])
    def post(self, request: Request) -> Response:
        """Start the due runs. The answer has those that this call started and you may see."""
        now = database_now()
        started = runs.run_due(now)
        runs.settle_runs(now)
        visible = runs_of(request.user) if isinstance(request.user, User) else WorkflowRun.objects.all()
        executed = visible.filter(id__in=started).order_by("scheduled_time")
        return Response(ExecutedOut.write({"executed": list(executed)}))
