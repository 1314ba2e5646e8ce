"""Submit jobs, list them and look at one."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import lifecycle, submission
from jobs.api import documents, shapes
from jobs.api.filters import ORDERINGS, USUAL_ORDER, JobFilter
from jobs.api.views import ACTS, JobView, OfficeView, batch_address, job_address
from jobs.models import Batch, Job
from jobs.rest.filtering import FilterBackend
from jobs.rest.idempotency import idempotent
from jobs.rest.pagination import RoughPagination
from jobs.submission import Prepared

ONE = {"task_id": "demo.sum", "args": {"numbers": [1, 2, 3]}, "priority": 10}


class JobListView(OfficeView):
    """The jobs of an office."""

    queryset = Job.objects.none()
    pagination_class = RoughPagination
    filter_backends = (FilterBackend,)
    filterset_class = JobFilter

    @extend_schema(
        operation_id="list_jobs",
        tags=["jobs"],
        summary="List jobs",
        description="`count` is exact up to 10,000, and an estimate beyond.",
        responses=documents.JobDocument(many=True),
    )
    def get(self, request: Request, office_id: UUID) -> Response:
        jobs = self.filter_queryset(self.office().jobs.order_by(*ORDERINGS[USUAL_ORDER]))
        page = self.paginate_queryset(shapes.shown(jobs)) or []
        return self.get_paginated_response(shapes.jobs(page))

    @extend_schema(
        operation_id="submit_jobs",
        tags=["jobs"],
        summary="Submit one job, or many that depend on each other",
        description=(
            "All of it is accepted, or nothing. An unknown `task_id`, an unknown dependency, a `ref` used "
            'twice or a cycle refuse it with 400; for a cycle `code` is "cycle" and `cycle` names the '
            "members of one, in order. A `batch.id` that the office has already adds to that batch. 409: a "
            "job with the same `unique_key` has not ended."
        ),
        request=PolymorphicProxySerializer(
            component_name="Submission",
            serializers=[documents.JobSubmissionDocument, documents.BatchSubmissionDocument],
            resource_type_field_name=None,
        ),
        responses={
            201: PolymorphicProxySerializer(
                component_name="Submitted",
                serializers=[documents.JobDocument, documents.SubmittedDocument],
                resource_type_field_name=None,
            )
        },
        examples=[
            OpenApiExample("one job", ONE, request_only=True),
            OpenApiExample("a batch", documents.SUBMISSION_EXAMPLE, request_only=True),
        ],
    )
    @idempotent
    def post(self, request: Request, office_id: UUID) -> Response:
        prepared = submission.read(self.office(ACTS), request.data)
        ids = lifecycle.submit(prepared, actor=self.actor())
        answer = submitted(prepared)
        if prepared.batch is None:
            return Response(
                answer[0], status=201, headers={"Location": job_address(request, office_id, ids[0])}
            )
        batch = Batch.objects.get(pk=prepared.batch)
        described = {
            "id": str(batch.id),
            "name": batch.name or None,
            "created_at": shapes.moment(batch.created_at),
        }
        return Response(
            {"batch": described, "jobs": answer},
            status=201,
            headers={"Location": batch_address(request, office_id, batch.id)},
        )


def submitted(prepared: Prepared) -> list[dict[str, Any]]:
    """The jobs as they were written, in the order given."""
    ids = [job["id"] for job in prepared.jobs]
    found = Job.objects.filter(office_id=prepared.office, id__in=ids).order_by("seq")
    # The edges are at hand: reading a hundred thousand again would take as long as writing them.
    parents: dict[str, list[str]] = {}
    for child, parent, _ in prepared.edges:
        parents.setdefault(child, []).append(parent)
    return shapes.jobs(list(shapes.shown(found)), parents)


class JobDetailView(JobView):
    """One job of an office."""

    @extend_schema(
        operation_id="get_job",
        tags=["jobs"],
        summary="One job, with its executions and attempts",
        responses=documents.JobInFullDocument,
    )
    def get(self, request: Request, office_id: UUID, job_id: UUID) -> Response:
        return Response(shapes.job_in_full(self.job(self.office())))
