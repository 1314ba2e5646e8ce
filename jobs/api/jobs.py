"""Submit, list and read jobs."""

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema, extend_schema_serializer
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import lifecycle, serialize, submission
from jobs.api import examples
from jobs.api.batches import SubmittedBatchOut
from jobs.api.filters import JobFilter
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.lists import ListView
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.pagination import RoughPagination
from jobs.api.views import OPERATOR, JobView, OfficeView, batch_address, created_response, job_address
from jobs.api_model import JSON, ApiOut
from jobs.models import Batch, Job
from jobs.schemas import BatchSubmissionIn, JobIn, JobInFullOut, JobOut
from jobs.sql import call, reports
from jobs.submission import PreparedSubmission


@extend_schema_serializer(examples=[in_response("a batch", examples.SUBMITTED)])
class SubmittedJobsOut(ApiOut):
    batch: SubmittedBatchOut
    jobs: list[JobOut]


class JobPagination(RoughPagination):
    def read_rows(self, queryset: QuerySet[Job], start: int, stop: int) -> list[Job]:
        """Read the numbers of the page first: an index has them, and a sort of numbers alone is small."""
        numbers = list(queryset.values_list("seq", flat=True)[start:stop])
        rows = {job.seq: job for job in queryset.order_by().filter(seq__in=numbers)}
        return [rows[number] for number in numbers if number in rows]


class JobListView(OfficeView, ListView[Job]):
    queryset = Job.objects.none()
    pagination_class = JobPagination
    filterset_class = JobFilter

    @extend_schema(operation_id="list_jobs", responses=list[JobOut])
    def get(self, request: Request, office_id: UUID) -> Response:
        """List jobs. `count` is exact up to 10,000, and an estimate beyond."""
        page = self.page_of(serialize.with_job_fields(self.office().jobs.all()))
        return self.get_paginated_response(serialize.jobs_json(page))

    @extend_schema(
        operation_id="submit_jobs",
        request=PolymorphicProxySerializer(
            component_name="Submission",
            serializers=[JobIn, BatchSubmissionIn],  # type: ignore[list-item]
            resource_type_field_name=None,
        ),
        responses={
            201: PolymorphicProxySerializer(
                component_name="Submitted",
                serializers=[JobOut, SubmittedJobsOut],  # type: ignore[list-item]
                resource_type_field_name=None,
            )
        },
        examples=[
            in_request("one job", examples.ONE_JOB),
            in_request("two jobs, one after the other", examples.TWO_JOBS),
            in_response("one job", examples.WAITING_JOB),
            in_response("a batch", examples.SUBMITTED),
        ],
        extensions=problems("cycle", "unique_key_taken"),
    )
    @idempotent
    def post(self, request: Request, office_id: UUID) -> Response:
        """Submit one job, or a graph of jobs.

        The submission is accepted as a whole or not at all. An unknown `task_id`, an unknown dependency, a
        `ref` used twice or a cycle is answered with 400; for a cycle `code` is "cycle" and `cycle` names its
        members, in order. An existing `batch.id` adds the jobs to that batch. 409: an unfinished job has the
        same `unique_key`.
        """
        prepared = submission.read(self.office(OPERATOR), request.data)
        ids = lifecycle.submit(prepared)
        answer = submitted_jobs(prepared)
        if prepared.batch is None:
            return created_response(answer[0], job_address(request, office_id, ids[0]))
        batch = Batch.objects.get(pk=prepared.batch)
        submitted = {"batch": SubmittedBatchOut.write(batch), "jobs": answer}
        return created_response(submitted, batch_address(request, office_id, batch.id))


def submitted_jobs(prepared: PreparedSubmission) -> list[JSON]:
    """The jobs as they are now, in the order of the submission.

    For jobs that have not started, only the status is read: reading ten thousand rows and a hundred thousand
    edges again would take longer than writing them.
    """
    ids = [str(job["id"]) for job in prepared.jobs]
    waiting = {
        job: (status, created_at, ready_at)
        for job, status, created_at, ready_at in call.rows(reports.UNTOUCHED_JOBS, {"jobs": ids})
    }
    parents: dict[str, list[str]] = {}
    for child, parent, _ in prepared.edges:
        parents.setdefault(child, []).append(parent)
    others = Job.objects.filter(pk__in=[job for job in ids if job not in waiting])
    read_again = {
        job["id"]: job for job in serialize.jobs_json(list(serialize.with_job_fields(others)), parents)
    }
    return [
        serialize.new_job_json(prepared, fields, *waiting[job], parents.get(job, []))
        if job in waiting
        else read_again[job]
        for job, fields in zip(ids, prepared.jobs, strict=True)
    ]


class JobDetailView(JobView):
    @extend_schema(operation_id="get_job", responses=JobInFullOut)
    def get(self, request: Request, office_id: UUID, job_id: UUID) -> Response:
        """One job, with its executions and attempts."""
        return Response(serialize.job_detail_json(self.job(self.office())))
