"""The log of a run: its lines after any of them, and all of them as a file."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from uuid import UUID

from django.http import HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema, extend_schema_serializer
from pydantic import Field
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api import examples
from jobs.api.framework.openapi_examples import in_response
from jobs.api.framework.query import OneOf, WholeNumber, read_parameters
from jobs.api.views import JobView
from jobs.api_model import ApiOut
from jobs.models import Execution
from jobs.run_logs import reading
from jobs.run_logs.lines import LEVELS, level_number
from jobs.run_logs.reading import LogLineOut, Selection

ATTEMPT = WholeNumber("attempt", "Only the lines of this attempt; 0 for all.", default=0, low=0, high=2**20)
LEVEL = OneOf("level", "Only lines of this level and above.", tuple(LEVELS))
AFTER = WholeNumber("after", "Only lines with a greater `seq` than this.", default=0, low=0, high=2**63 - 1)
LIMIT = WholeNumber("limit", "Maximum number of lines.", default=500, low=1, high=1_000)
PAGE = (ATTEMPT, LEVEL, AFTER, LIMIT)
FILE = (ATTEMPT, LEVEL)
F = TypeVar("F", bound=Callable[..., Any])
TEXT_BYTES = 64 * 1024


@extend_schema_serializer(examples=[in_response("two lines", examples.RUN_LOG)])
class RunLogOut(ApiOut):
    results: list[LogLineOut]
    next_after: int = Field(description="The `after` of the next request.")
    truncated: bool = Field(description="Whether earlier lines were not kept.")


def describe_page(operation_id: str, summary: str) -> Callable[[F], F]:
    return extend_schema(
        operation_id=operation_id,
        summary=summary,
        description=(
            "What the run has logged and printed, the oldest line first. Continue after `next_after`. Output "
            "of programs counts as INFO, and what is printed to stderr as WARNING."
        ),
        parameters=[parameter.openapi for parameter in PAGE],
        responses=RunLogOut,
    )


def describe_file(operation_id: str, summary: str) -> Callable[[F], F]:
    return extend_schema(
        operation_id=operation_id,
        summary=summary,
        parameters=[parameter.openapi for parameter in FILE],
        responses={(200, "text/plain"): OpenApiResponse(OpenApiTypes.STR, "The lines as text.")},
        examples=[OpenApiExample("a line", examples.LOG_TEXT, response_only=True, media_type="text/plain")],
    )


def log_page(request: Request, run: Execution | None) -> Response:
    # Bad parameters are refused even while there is no run.
    attempt, level, after, limit = read_parameters(request, *PAGE)
    only = selection_of(attempt, level)
    lines = reading.lines_after(run.pk, after, limit, only) if run else []
    next_after = lines[-1].seq if lines else after
    truncated = bool(run and reading.cut_lines(run, only))
    return Response(RunLogOut.write({"results": lines, "next_after": next_after, "truncated": truncated}))


def log_file(request: Request, run: Execution | None, name: str) -> HttpResponseBase:
    only = selection_of(*read_parameters(request, *FILE))
    lines = reading.text_lines(run, only) if run else iter(())
    return StreamingHttpResponse(
        _parts(lines),
        content_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.log.txt"'},
    )


def selection_of(attempt: int, level: str | None) -> Selection:
    return Selection(attempt or None, level_number(level))


def _parts(lines: Iterator[str]) -> Iterator[bytes]:
    part = bytearray()
    for line in lines:
        part += line.encode()
        if len(part) >= TEXT_BYTES:
            yield bytes(part)
            part.clear()
    yield bytes(part)


class JobLogView(JobView):
    @describe_page("job_log", "The log of a job's latest run")
    def get(self, request: Request, office_id: UUID, job_id: UUID) -> Response:
        return log_page(request, reading.latest_run(self.job(self.office())))


class TextRenderer(JSONRenderer):
    """Accepts requests for text. The log is streamed, and problems are JSON."""

    media_type = "text/plain"
    format = "txt"


class JobLogFileView(JobView):
    renderer_classes = (JSONRenderer, TextRenderer)

    @describe_file("download_job_log", "The log of a job's latest run as a file")
    def get(self, request: Request, office_id: UUID, job_id: UUID) -> HttpResponseBase:
        return log_file(request, reading.latest_run(self.job(self.office())), str(job_id))
