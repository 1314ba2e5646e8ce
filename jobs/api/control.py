"""Retry, cancel and reorder jobs."""

from typing import Annotated, Self
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field, PlainValidator, ValidationInfo, WithJsonSchema, field_validator, model_validator
from pydantic_core import PydanticCustomError
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import lifecycle, serialize
from jobs.api import examples
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.problem_details import Problem
from jobs.api.framework.reading import read
from jobs.api.views import OPERATOR, JobView, OfficeView, accepted_response, batch_address, job_address
from jobs.api_model import JSON, ApiIn, ApiOut, Omittable, Uuid
from jobs.bulk import cancel_matching
from jobs.errors import Conflict
from jobs.field_types import Priority, Reason, RoleName
from jobs.insight import retries
from jobs.models import Job
from jobs.schemas import JobOut
from jobs.states import JOB_LIVE


class ReasonIn(ApiIn):
    reason: Omittable[Reason] = Field(None, description="Recorded in the job's event.")


class ReasonView(JobView):
    """A view of one job that acts for a reason."""

    def read(self) -> tuple[Job, str]:
        office = self.office(OPERATOR)
        reason = read(ReasonIn, self.request.data).reason or ""
        return self.job(office), reason

    def accepted_response(self, job: Job) -> Response:
        return accepted_response(current_json(job.id), job_address(self.request, job.office_id, job.id))


class RetryView(ReasonView):
    @extend_schema(
        operation_id="retry_job",
        request=ReasonIn,
        responses={202: JobOut},
        examples=[in_request("after a manual merge", {"reason": "merged by hand"})],
        extensions=problems("not_retryable", "retry_dependencies_first"),
    )
    @idempotent
    def post(self, request: Request, office_id: UUID, job_id: UUID) -> Response:
        """Run a job again.

        For a job that failed, was cancelled, or timed out and waits for a retry: a new Execution, with its
        counts at 0. A job with `on_dependency_failure` `fail` can be retried after the dependencies that
        failed or were cancelled; `jobs` of the refusal names them.
        """
        job, reason = self.read()
        if not lifecycle.retry(job.office_id, [job.id], actor=self.actor(), reason=reason).count:
            raise retries.refusal(job)
        return self.accepted_response(job)


class CancelView(ReasonView):
    @extend_schema(
        operation_id="cancel_job",
        request=ReasonIn,
        responses={202: JobOut},
        examples=[
            in_request("with a reason", {"reason": "no longer needed"}),
            in_response("it had not started", examples.CANCELLED_JOB),
        ],
        extensions=problems("ended"),
    )
    @idempotent
    def post(self, request: Request, office_id: UUID, job_id: UUID) -> Response:
        """Cancel a job.

        A running job is asked to stop and killed after its grace period; until then its status stays
        `processing` and `cancelled_at` is set.
        """
        job, reason = self.read()
        answer = lifecycle.cancel(job.office_id, [job.id], actor=self.actor(), reason=reason)
        if not answer.total:
            raise ended_conflict(job)
        return self.accepted_response(job)


def _states(value: object) -> list[str]:
    states = [value] if isinstance(value, str) else value
    if not isinstance(states, list):
        raise PydanticCustomError("list_type", "not a list")
    if not states:
        raise PydanticCustomError("empty", "This selection may not be empty.")
    for state in states:
        if state not in JOB_LIVE:
            raise PydanticCustomError("choice", '"{state}" is not a valid choice.', {"state": state})
    return sorted(set(states))


STATE: JSON = {"enum": list(map(str, JOB_LIVE))}
States = Annotated[
    list[str],
    PlainValidator(_states),
    WithJsonSchema({"oneOf": [STATE, {"type": "array", "items": STATE, "minItems": 1}]}),
]


class CancelAllIn(ReasonIn):
    batch: Omittable[Uuid] = Field(None, description="Only jobs of this batch.")
    status: Omittable[States] = Field(None, description="One state or several; default: all unfinished ones.")
    role: Omittable[RoleName] = Field(None, description="Only jobs of this role.")
    include_processing: bool = Field(True, description="If false, running jobs continue.")


class CancelledOut(ApiOut):
    cancelled: int = Field(description="Cancelled at once.")
    cancelling: int = Field(description="Running; asked to stop.")


class CancelAllView(OfficeView):
    @extend_schema(
        operation_id="cancel_jobs",
        request=CancelAllIn,
        responses={202: CancelledOut},
        examples=[
            in_request("waiting front end jobs", {"status": ["pending", "ready"], "role": "FE"}),
            in_response("two of them are running", {"cancelled": 41, "cancelling": 2}),
        ],
    )
    @idempotent
    def post(self, request: Request, office_id: UUID) -> Response:
        """Cancel all matching jobs.

        By batch, state and role; by default all unfinished jobs of the office.
        """
        office = self.office(OPERATOR)
        data = read(CancelAllIn, request.data)
        if (batch := data.batch) and not office.batches.filter(pk=batch).exists():
            sentence = "There is no such batch in this office."
            raise Problem(400, "invalid", sentence, errors={"batch": [sentence]})
        answer = cancel_matching(
            office.id,
            data.status or JOB_LIVE,
            batch=batch,
            role=data.role or "",
            include_processing=data.include_processing,
            actor=self.actor(),
            reason=data.reason or "",
        )
        jobs = request.build_absolute_uri(f"/api/offices/{office_id}/jobs")
        return accepted_response(
            CancelledOut.write(answer), batch_address(request, office_id, batch) if batch else jobs
        )


class PriorityIn(ApiIn):
    priority: Omittable[Priority] = Field(None, description="Lower runs earlier.")
    urgent: Omittable[bool] = Field(None, description="Runs before all jobs that are not urgent.")
    delta: Omittable[Priority] = Field(None, description="Added to the current priority.")

    @field_validator("delta")
    @classmethod
    def _refuse_both(cls, delta: int, info: ValidationInfo) -> int:
        if "priority" in info.data and info.data["priority"] is not None:
            raise PydanticCustomError("both", "Give either priority or delta.")
        return delta

    @model_validator(mode="after")
    def _refuse_nothing(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("nothing", "Give priority, urgent or delta.")
        return self


class PriorityView(JobView):
    @extend_schema(
        operation_id="set_job_priority",
        request=PriorityIn,
        responses=JobOut,
        examples=[
            in_request("ten earlier", {"delta": -10}),
            in_request("next", {"urgent": True}),
            in_response("next", {**examples.WAITING_JOB, "urgent": True}),
        ],
        extensions=problems("ended"),
    )
    def patch(self, request: Request, office_id: UUID, job_id: UUID) -> Response:
        """Change a job's priority. A lower number runs earlier; urgent jobs run before all others."""
        office = self.office(OPERATOR)
        data = read(PriorityIn, request.data)
        job = self.job(office)
        if not lifecycle.reprioritise(
            office.id,
            [job.id],
            priority=data.priority,
            urgent=data.urgent,
            delta=data.delta,
            actor=self.actor(),
        ):
            raise ended_conflict(job)
        return Response(current_json(job.id))


def current_json(job_id: UUID) -> JSON:
    return serialize.jobs_json(list(serialize.with_job_fields(Job.objects.filter(pk=job_id))))[0]


def ended_conflict(job: Job) -> Conflict:
    status = Job.objects.values_list("status", flat=True).get(pk=job.pk)
    return Conflict("ended", status=status)
