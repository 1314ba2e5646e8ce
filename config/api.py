"""/api/schema, /api/docs and /api/problems/:code."""

import json
from functools import cache
from typing import Any

from django.conf import settings
from django.http import Http404, HttpResponse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiJsonRenderer2, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.framework.openapi_examples import in_response
from jobs.api_model import ApiOut
from jobs.errors import PROBLEM_CODES

# Swagger UI writes styles into its page, and icons as data.
DOCS_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@cache
def schema_of(urlconf: str) -> Any:
    """The schema, generated once per process: the routes do not change."""
    schema = SchemaGenerator(urlconf=urlconf).get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    # The renderer's encoder resolves lazy texts; the result is plain data.
    return json.loads(OpenApiJsonRenderer().render(schema))


class SchemaView(APIView):
    """This API in OpenAPI 3.1; JSON unless `Accept` asks for YAML."""

    permission_classes = [AllowAny]
    renderer_classes = [OpenApiJsonRenderer2, OpenApiJsonRenderer, OpenApiYamlRenderer]

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        return Response(schema_of(settings.ROOT_URLCONF))


class DocsView(SpectacularSwaggerSplitView):
    permission_classes = [AllowAny]
    template_name = "api/docs.html"

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        response["Content-Security-Policy"] = DOCS_POLICY
        return response


class ProblemKindOut(ApiOut):
    code: str
    title: str
    meaning: str


class ProblemKindView(APIView):
    """The meaning of a problem's `code`; its `type` is this URL."""

    permission_classes = [AllowAny]

    @extend_schema(
        operation_id="explain_problem",
        summary="Explain the code of a problem",
        description="The `type` of a problem is this URL.",
        responses=ProblemKindOut,
        examples=[in_response("a code", ProblemKindOut.write(PROBLEM_CODES["not_found"], code="not_found"))],
    )
    def get(self, request: Request, code: str) -> Response:
        if code not in PROBLEM_CODES:
            raise Http404
        return Response(ProblemKindOut.write(PROBLEM_CODES[code], code=code))
