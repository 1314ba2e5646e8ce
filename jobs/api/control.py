"""What people decide about jobs: retry, cancel, cancel many, change the order."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import lifecycle, serialize
from jobs.api import documents, examples
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import refuses
from jobs.api.framework.openapi_examples import answered, asked
from jobs.api.framework.problem_details import Problem
from jobs.api.framework.serializers import StrictSerializer
from jobs.api.views import ACTS, JobView, OfficeView, accepted, batch_address, job_address
from jobs.bulk import HIGHEST_PRIORITY, LOWEST_PRIORITY, CancelFilter, cancel_matching
from jobs.errors import Conflict
from jobs.models import Job
from jobs.states import JOB_LIVE

LIVE = [(str(status), str(status)) for status in JOB_LIVE]
ROLES = [(role, role) for role in settings.DURE_ROLES]


class ReasonSerializer(StrictSerializer):
    reason = serializers.CharField(
        required=False, allow_blank=True, max_length=500, help_text="Goes into the job's event."
    )


class RetryView(JobView):
    """Another run of a job."""

    @extend_schema(
        operation_id="retry_job",
        tags=["jobs"],
        summary="Run a job again",
        description="For a job that failed, was cancelled, or timed out and waits: a new Execution, with its "
        "counts at 0.",
        request=ReasonSerializer,
        responses={202: documents.JobDocument},
        examples=[asked("after a merge by hand", {"reason": "merged by hand"})],
        extensions=refuses("not_retryable"),
    )
    @idempotent
    def post(self, request: Request, office_id: UUID, job_id: UUID) -> Response:
        office = self.office(ACTS)
        reason = checked(ReasonSerializer(data=request.data)).get("reason", "")
        job = self.job(office)
        if not lifecycle.retry(office.id, [job.id], actor=self.actor(), reason=reason):
            raise Conflict("not_retryable", status=job.status)
        return accepted(shown(job.id), job_address(request, office_id, job_id))


class CancelView(JobView):
    """The end of a job."""

    @extend_schema(
        operation_id="cancel_job",
        tags=["jobs"],
        summary="Cancel a job",
        description="One that runs is told to stop, and killed after its grace; until then its status stays "
        "`processing` and `cancelled_at` is set.",
        request=ReasonSerializer,
        responses={202: documents.JobDocument},
        examples=[
            asked("for a reason", {"reason": "not wanted any more"}),
            answered("it had not started", examples.CANCELLED_JOB),
        ],
        extensions=refuses("ended"),
    )
    @idempotent
    def post(self, request: Request, office_id: UUID, job_id: UUID) -> Response:
        office = self.office(ACTS)
        reason = checked(ReasonSerializer(data=request.data)).get("reason", "")
        job = self.job(office)
        answer = lifecycle.cancel(office.id, [job.id], actor=self.actor(), reason=reason)
        if not answer.total:
            raise ended(job)
        return accepted(shown(job.id), job_address(request, office_id, job_id))


@extend_schema_field(
    {
        "oneOf": [
            {"enum": [name for name, _ in LIVE]},
            {"type": "array", "items": {"enum": [name for name, _ in LIVE]}, "minItems": 1},
        ]
    }
)
class StatesField(serializers.MultipleChoiceField):
    """One state, or a list of some."""


class CancelAllSerializer(ReasonSerializer):
    batch = serializers.UUIDField(required=False, help_text="Only jobs of this batch.")
    status = StatesField(
        choices=LIVE,
        required=False,
        allow_empty=False,
        help_text="One state or several; all that have not ended, unless given.",
    )
    role = serializers.ChoiceField(ROLES, required=False, help_text="Only jobs of this role.")
    include_processing = serializers.BooleanField(
        required=False, default=True, help_text="Without it, what runs goes on."
    )

    def to_internal_value(self, data: object) -> object:
        if isinstance(data, dict) and isinstance(data.get("status"), str):
            data = {**data, "status": [data["status"]]}
        return super().to_internal_value(data)


class CancelledSerializer(serializers.Serializer[None]):
    cancelled = serializers.IntegerField(help_text="Cancelled at once.")
    cancelling = serializers.IntegerField(help_text="They run, and were told to stop.")


class CancelAllView(OfficeView):
    """The end of many jobs."""

    @extend_schema(
        operation_id="cancel_jobs",
        tags=["jobs"],
        summary="Cancel all jobs that fit",
        description="Those of a batch, in a state, of a role, or all of the office that have not ended.",
        request=CancelAllSerializer,
        responses={202: CancelledSerializer},
        examples=[
            asked("what waits for the front end", {"status": ["pending", "ready"], "role": "FE"}),
            answered("two of them run", {"cancelled": 41, "cancelling": 2}),
        ],
    )
    @idempotent
    def post(self, request: Request, office_id: UUID) -> Response:
        office = self.office(ACTS)
        given = checked(CancelAllSerializer(data=request.data))
        if (batch := given.get("batch")) and not office.batches.filter(pk=batch).exists():
            sentence = "There is no such batch in this office."
            raise Problem(400, "invalid", sentence, errors={"batch": [sentence]})
        wish = CancelFilter(
            batch=batch,
            statuses=sorted(given.get("status") or JOB_LIVE),
            role=given.get("role", ""),
            include_processing=given["include_processing"],
        )
        answer = cancel_matching(office.id, wish, actor=self.actor(), reason=given.get("reason", ""))
        jobs = request.build_absolute_uri(f"/api/offices/{office_id}/jobs")
        return accepted(asdict(answer), batch_address(request, office_id, batch) if batch else jobs)


class PrioritySerializer(StrictSerializer):
    priority = serializers.IntegerField(
        required=False,
        min_value=LOWEST_PRIORITY,
        max_value=HIGHEST_PRIORITY,
        help_text="The lower, the earlier.",
    )
    urgent = serializers.BooleanField(required=False, help_text="Before everything that is not.")
    delta = serializers.IntegerField(
        required=False,
        min_value=LOWEST_PRIORITY,
        max_value=HIGHEST_PRIORITY,
        help_text="Added to the priority it has.",
    )

    def validate(self, attrs: dict[str, object]) -> dict[str, object]:
        if not attrs:
            raise serializers.ValidationError("Give priority, urgent or delta.")
        if "priority" in attrs and "delta" in attrs:
            raise serializers.ValidationError({"delta": ["Give either priority or delta."]})
        return attrs


class PriorityView(JobView):
    """A job's place in the order."""

    @extend_schema(
        operation_id="set_job_priority",
        tags=["jobs"],
        summary="Change a job's place in the order",
        description="The lower, the earlier; urgent ones before all others.",
        request=PrioritySerializer,
        responses=documents.JobDocument,
        examples=[
            asked("earlier by ten", {"delta": -10}),
            asked("next", {"urgent": True}),
            answered("next", {**examples.WAITING_JOB, "urgent": True}),
        ],
        extensions=refuses("ended"),
    )
    def patch(self, request: Request, office_id: UUID, job_id: UUID) -> Response:
        office = self.office(ACTS)
        given = checked(PrioritySerializer(data=request.data))
        job = self.job(office)
        if not lifecycle.reprioritise(
            office.id,
            [job.id],
            priority=given.get("priority"),
            urgent=given.get("urgent"),
            delta=given.get("delta"),
            actor=self.actor(),
        ):
            raise ended(job)
        return Response(shown(job.id))


def checked(serializer: StrictSerializer) -> dict[str, Any]:
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def shown(job_id: UUID) -> serialize.JSON:
    return serialize.jobs_json(list(serialize.with_job_fields(Job.objects.filter(pk=job_id))))[0]


def ended(job: Job) -> Conflict:
    status = Job.objects.values_list("status", flat=True).get(pk=job.pk)
    return Conflict("ended", status=status)
