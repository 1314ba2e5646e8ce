"""The operation libraries."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.framework.problem_details import Problem
from scheduler.steps import libraries
from scheduler.steps.api import schemas


class LibrariesView(GenericAPIView[Any]):
    @extend_schema(operation_id="list_libraries", responses=list[schemas.OperationLibraryOut])
    def get(self, request: Request) -> Response:
        """List the operation libraries, with their operations and arguments."""
        names: Any = libraries.names()
        page = self.paginate_queryset(self.filter_queryset(names)) or []
        return self.get_paginated_response([schemas.library_json(name) for name in page])


class OneLibraryView(APIView):
    @extend_schema(operation_id="show_library", responses=schemas.OperationLibraryOut)
    def get(self, request: Request, name: str) -> Response:
        """Show an operation library."""
        if name not in libraries.names():
            raise Problem(404, "not_found", f"No library {name[:100]!r} is registered.")
        return Response(schemas.library_json(name))
