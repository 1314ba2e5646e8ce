"""Exports: list, show, cancel, download."""

from functools import partial
from typing import Any

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from exports import lifecycle
from exports.access import exports_of
from exports.api.downloads import OCTET_STREAM, AcceptsAnyType, download
from exports.api.examples import CANCELLED_EXAMPLE, RUNNING_EXAMPLE, page_example
from exports.api.pages import PAGING, page_of
from exports.models import ExportJob
from exports.schemas import ExportOut, ExportPage
from exports.states import CONTENT_TYPES, JobType, Status
from jobs.api.framework.authentication import user_of
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_response
from jobs.api.framework.query import OneOf
from jobs.api.views import accepted_response

JOB_TYPE = OneOf("jobType", "Only exports of this type.", JobType.values)
STATUS = OneOf("status", "Only exports with this status.", Status.values)

FILE_HEADERS = [
    OpenApiParameter(
        "Range",
        str,
        OpenApiParameter.HEADER,
        description="One range of bytes; several ranges are ignored.",
        examples=[OpenApiExample("the first megabyte", "bytes=0-1048575")],
    ),
    OpenApiParameter(
        "ETag",
        str,
        OpenApiParameter.HEADER,
        description="The file's SHA-256, quoted.",
        response=[200, 206, 304],
    ),
    OpenApiParameter(
        "Content-Range", str, OpenApiParameter.HEADER, description="The range of these bytes.", response=[206]
    ),
]

FILE_TYPES = (*CONTENT_TYPES.values(), OCTET_STREAM)
FILE_RESPONSES: dict[Any, OpenApiResponse] = {
    **{(200, kind): OpenApiResponse(OpenApiTypes.BINARY, "The whole file.") for kind in FILE_TYPES},
    **{(206, kind): OpenApiResponse(OpenApiTypes.BINARY, "The range of the file.") for kind in FILE_TYPES},
    304: OpenApiResponse(None, "Your copy is current."),
}


def own_job(request: Request, job_id: int) -> ExportJob:
    """404 for an export of another user. With its replay, after which a download is named."""
    return get_object_or_404(exports_of(user_of(request)).select_related("replay"), pk=job_id)


class JobsView(APIView):
    @extend_schema(
        operation_id="list_exports",
        parameters=[JOB_TYPE.openapi, STATUS.openapi, *PAGING],
        responses={200: ExportPage},
        examples=[in_response("one is running", page_example(RUNNING_EXAMPLE))],
    )
    def get(self, request: Request) -> Response:
        """List your exports, newest first."""
        rows, out = exports_of(user_of(request)), partial(ExportOut.at, now=timezone.now())
        return page_of(request, rows, ExportPage, out, job_type=JOB_TYPE, status=STATUS)


class JobView(APIView):
    @extend_schema(operation_id="get_export", responses={200: ExportOut})
    def get(self, request: Request, job_id: int) -> Response:
        """Get one of your exports."""
        return Response(ExportOut.at(own_job(request, job_id), timezone.now()).dump())


class CancelView(APIView):
    @extend_schema(
        operation_id="cancel_export",
        responses={202: ExportOut},
        examples=[in_response("cancelled", CANCELLED_EXAMPLE)],
        extensions=problems("ended"),
    )
    @idempotent
    def post(self, request: Request, job_id: int) -> Response:
        """Cancel an export."""
        job = lifecycle.cancel(own_job(request, job_id).pk, timezone.now())
        location = request.build_absolute_uri(f"/api/jobs/{job.pk}")
        body = ExportOut.at(job, timezone.now()).dump()
        return accepted_response(body, location)


class ResultView(APIView):
    # DRF would refuse a client that accepts only the type of the file.
    content_negotiation_class = AcceptsAnyType

    @extend_schema(
        operation_id="download_export",
        parameters=FILE_HEADERS,
        responses=FILE_RESPONSES,
        extensions=problems("outside_export_root", "file_gone", "not_succeeded", "range_not_satisfiable"),
    )
    def get(self, request: Request, job_id: int) -> HttpResponseBase:
        """Download the result, or a range of it."""
        return download(request, own_job(request, job_id))

    @extend_schema(exclude=True)
    def head(self, request: Request, job_id: int) -> HttpResponseBase:
        return download(request, own_job(request, job_id))
