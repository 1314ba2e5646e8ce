"""The base of the views that list rows."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.db.models import Model
from rest_framework.generics import GenericAPIView
from rest_framework.response import Response

M = TypeVar("M", bound=Model)


class ListView(GenericAPIView[M]):
    """A view of rows, or of a list in memory, with the view's filters and in pages."""

    def page_of(self, rows: Any) -> Sequence[M]:
        """Those of the rows that the request asks for."""
        return self.paginate_queryset(self.filter_queryset(rows)) or ()

    def list_response(self, rows: Any, write: Callable[[M], dict[str, Any]]) -> Response:
        """A page of the rows, each as `write` has it."""
        return self.get_paginated_response([write(row) for row in self.page_of(rows)])
