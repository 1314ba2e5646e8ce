"""The reasons why a job is not running."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import serialize
from jobs.api.framework.openapi_examples import in_response
from jobs.api.views import JobView
from jobs.insight.explain import Code, Explanation, Reason, explain
from jobs.states import JobStatus


@extend_schema_serializer(component_name="Reason")
class ReasonDocument(serializers.Serializer[None]):
    """Further members depend on the code: jobs, count, running, limit, role, until, since, worker …"""

    code = serializers.ChoiceField([str(code) for code in Code])
    message = serializers.CharField()


@extend_schema_serializer(component_name="Explanation")
class ExplanationDocument(serializers.Serializer[None]):
    state = serializers.ChoiceField(JobStatus.choices)
    reasons = ReasonDocument(many=True)
    queue_position = serializers.IntegerField(
        allow_null=True,
        help_text="Position among the office's ready jobs, from 1; null if not ready.",
    )
    estimated_start = serializers.DateTimeField(allow_null=True, help_text="Null if unknown.")


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
    """All reasons why a job is not running."""

    @extend_schema(
        operation_id="explain_job",
        tags=["jobs"],
        summary="Why a job is not running now",
        description="Everything that holds it back at once, the decisive reason first.",
        responses=ExplanationDocument,
        examples=[in_response("the office is full", EXAMPLE)],
    )
    def get(self, request: Request, office_id: UUID, job_id: UUID) -> Response:
        office = self.office()
        return Response(explanation_json(explain(office, self.job(office), timezone.now())))


def explanation_json(explained: Explanation) -> dict[str, Any]:
    return {
        "state": explained.state,
        "reasons": [reason_json(reason) for reason in explained.reasons],
        "queue_position": explained.queue_position,
        "estimated_start": serialize.iso_time(explained.estimated_start),
    }


def reason_json(reason: Reason) -> dict[str, Any]:
    facts = {
        name: serialize.iso_time(value) if isinstance(value, datetime) else value
        for name, value in reason.facts.items()
    }
    return {"code": reason.code.value, "message": reason.message, **facts}
