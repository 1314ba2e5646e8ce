"""The reasons why a job is not running."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from pydantic import ConfigDict, Field
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.framework.openapi_examples import in_response
from jobs.api.views import JobView
from jobs.api_model import AnyOf, ApiOut, Time, iso_time
from jobs.insight.explain import Explanation, explain
from jobs.insight.reasons import Code, Reason
from jobs.states import JobStatus


class ReasonOut(ApiOut):
    """Further members depend on the code: jobs, count, running, limit, role, until, since, worker …"""

    model_config = ConfigDict(extra="allow")

    code: Annotated[str, AnyOf([str(code) for code in Code])]
    message: str


class ExplanationOut(ApiOut):
    state: Annotated[str, AnyOf(JobStatus.choices)]
    reasons: list[ReasonOut]
    queue_position: int | None = Field(
        description="Position among the office's ready jobs, from 1; null if not ready."
    )
    estimated_start: Time | None = Field(description="Null if unknown.")


EXAMPLE = {
    "state": JobStatus.READY.value,
    "reasons": [
        {
            "code": Code.OFFICE_LIMIT.value,
            "message": "3 jobs are processing; the office allows 3.",
            "running": 3,
            "limit": 3,
        }
    ],
    "queue_position": 2,
    "estimated_start": "2026-12-01T09:00:40+09:00",
}


class ExplainView(JobView):
    @extend_schema(
        operation_id="explain_job",
        responses=ExplanationOut,
        examples=[in_response("the office is full", EXAMPLE)],
    )
    def get(self, request: Request, office_id: UUID, job_id: UUID) -> Response:
        """Why a job is not running now. Everything that holds it back at once, the decisive reason first."""
        office = self.office()
        return Response(explanation_json(explain(office, self.job(office), timezone.now())))


def explanation_json(explained: Explanation) -> dict[str, Any]:
    return ExplanationOut.write(explained, reasons=[reason_of(reason) for reason in explained.reasons])


def reason_of(reason: Reason) -> ReasonOut:
    facts = {
        name: iso_time(value) if isinstance(value, datetime) else value
        for name, value in reason.facts.items()
    }
    return ReasonOut(code=reason.code.value, message=reason.message, **facts)
