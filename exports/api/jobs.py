"""Exports: listed, watched, cancelled, fetched."""

from django.http import Http404, HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from exports import describe, lifecycle
from exports.api import shapes
from exports.api.downloads import download
from exports.api.paging import choice, page_of
from exports.models import ExportJob
from exports.states import JobType, Status
from jobs.rest.authentication import user_of
from jobs.rest.filtering import refuse_unknown
from jobs.rest.idempotency import idempotent

PAGING = [
    OpenApiParameter("page", int, description="From 0."),
    OpenApiParameter("size", int, description="1 to 200."),
]


def own_job(request: Request, job_id: int) -> ExportJob:
    """Somebody else's is as if it were not there."""
    found = ExportJob.objects.select_related("replay").filter(pk=job_id, owner=user_of(request)).first()
    if found is None:
        raise Http404
    return found


@extend_schema(tags=["exports"])
class JobsView(APIView):
    @extend_schema(
        operation_id="list_exports",
        parameters=[
            OpenApiParameter("jobType", enum=JobType.values),
            OpenApiParameter("status", enum=Status.values),
            *PAGING,
        ],
        responses={200: shapes.page_document("ExportPage", shapes.ExportDocument)},
    )
    def get(self, request: Request) -> Response:
        """The caller's exports, newest first."""
        refuse_unknown(request, ("jobType", "status", "page", "size"))
        rows = ExportJob.objects.filter(owner=user_of(request)).order_by("-id")
        if job_type := choice(request, "jobType", JobType.values):
            rows = rows.filter(job_type=job_type)
        if status := choice(request, "status", Status.values):
            rows = rows.filter(status=status)
        now = timezone.now()
        return page_of(request, rows, lambda job: describe.as_json(job, now))


@extend_schema(tags=["exports"])
class JobView(APIView):
    @extend_schema(operation_id="get_export", responses={200: shapes.ExportDocument})
    def get(self, request: Request, job_id: int) -> Response:
        """One of the caller's exports."""
        return Response(describe.as_json(own_job(request, job_id), timezone.now()))


@extend_schema(tags=["exports"])
class CancelView(APIView):
    @extend_schema(
        operation_id="cancel_export",
        request=None,
        responses={202: shapes.ExportDocument, 409: OpenApiTypes.OBJECT},
    )
    @idempotent
    def post(self, request: Request, job_id: int) -> Response:
        """Cancel an export; 409 when it has ended."""
        job = lifecycle.cancel(own_job(request, job_id).pk, timezone.now())
        location = request.build_absolute_uri(f"/api/jobs/{job.pk}")
        return Response(describe.as_json(job, timezone.now()), status=202, headers={"Location": location})


@extend_schema(tags=["exports"])
class ResultView(APIView):
    @extend_schema(
        operation_id="download_export",
        parameters=[OpenApiParameter("Range", str, OpenApiParameter.HEADER)],
        responses={
            (200, "video/mp4"): OpenApiTypes.BINARY,
            (200, "image/png"): OpenApiTypes.BINARY,
            (206, "video/mp4"): OpenApiTypes.BINARY,
            (206, "image/png"): OpenApiTypes.BINARY,
            304: None,
            409: OpenApiTypes.OBJECT,
            416: OpenApiTypes.OBJECT,
        },
    )
    def get(self, request: Request, job_id: int) -> HttpResponseBase:
        """The file, or a range of it."""
        return download(request, own_job(request, job_id))

    @extend_schema(exclude=True)
    def head(self, request: Request, job_id: int) -> HttpResponseBase:
        return download(request, own_job(request, job_id))
