"""Pages of lists: `{count, next, previous, results}`, `page` and `page_size`.

A page size beyond 200 and a page beyond the first million rows are rejected; a page after the last one is
404. Each page reads one row more to know whether another page follows, so an estimated count never hides
rows.
"""

from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.ids import parse_number
from jobs.keyset import estimated_rows

if TYPE_CHECKING:
    # DRF's views import this module by its name in the settings.
    from rest_framework.views import APIView

DEEPEST_ROW = 1_000_000


class PagePagination(PageNumberPagination):
    page_size_query_param = "page_size"
    max_page_size = 200
    page_query_description = "The page, from 1. A page after the last one is 404."
    page_size_query_description = "Results per page, at most 200."
    count_description = "Number of results on all pages."

    request: Request

    def paginate_queryset(self, queryset: Any, request: Request, view: "APIView | None" = None) -> list[Any]:
        self.request = request
        size = self._positive("page_size", self.page_size or 50, self.max_page_size)
        self.number = self._positive("page", 1, None)
        if self.number * size > DEEPEST_ROW:
            raise ValidationError(
                {"page": [f"Only the first {DEEPEST_ROW:,} rows have pages: narrow the filter."]}
            )
        start = (self.number - 1) * size
        # One row more shows whether there is a next page.
        rows = self.read_rows(queryset, start, start + size + 1)
        if not rows and self.number > 1:
            raise NotFound(f"There is no page {self.number}.")
        self.more = len(rows) > size
        self.counted = self.count_of(queryset) if self.more or self.number > 1 else len(rows)
        return rows[:size]

    def read_rows(self, queryset: Any, start: int, stop: int) -> list[Any]:
        return list(queryset[start:stop])

    def count_of(self, queryset: Any) -> int:
        return queryset.count() if isinstance(queryset, QuerySet) else len(queryset)

    def get_next_link(self) -> str | None:
        return self._link(self.number + 1) if self.more else None

    def get_previous_link(self) -> str | None:
        return self._link(self.number - 1) if self.number > 1 else None

    def get_paginated_response(self, data: Any) -> Response:
        return Response(
            {
                "count": self.counted,
                "next": self.get_next_link(),
                "previous": self.get_previous_link(),
                "results": data,
            }
        )

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        link = {"type": ["string", "null"], "format": "uri", "example": None}
        return {
            "type": "object",
            "required": ["count", "next", "previous", "results"],
            "properties": {
                "count": {
                    "type": "integer",
                    "minimum": 0,
                    "example": 1,
                    "description": self.count_description,
                },
                "next": link | {"description": "URL of the next page."},
                "previous": link | {"description": "URL of the previous page."},
                "results": schema,
            },
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        parameters: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        bounds = {
            "page": {"minimum": 1, "maximum": DEEPEST_ROW, "default": 1},
            "page_size": {
                "minimum": 1,
                "maximum": self.max_page_size,
                "default": self.page_size,
            },
        }
        for parameter in parameters:
            parameter["schema"] |= bounds.get(parameter["name"], {})
        return parameters

    def _positive(self, name: str, default: int, highest: int | None) -> int:
        text = self.request.query_params.get(name)
        if text is None:
            return default
        number = parse_number(text) or 0
        if number < 1 or (highest and number > highest):
            allowed = f"from 1 to {highest}" if highest else "from 1 on"
            raise ValidationError({name: [f"Must be a whole number {allowed}."]})
        return number

    def _link(self, number: int) -> str:
        query = self.request.query_params.copy()
        query["page"] = str(number)
        return self.request.build_absolute_uri(f"{self.request.path}?{query.urlencode()}")


class RoughPagination(PagePagination):
    """Pages of large tables. It counts exactly up to a limit, and beyond it uses the planner's estimate.

    Counting two million rows takes longer than reading the page.
    """

    exact_up_to = 10_000
    count_description = "Number of results on all pages; an estimate beyond 10,000."

    def count_of(self, queryset: QuerySet[Any]) -> int:
        seen = queryset.order_by()[: self.exact_up_to + 1].count()
        return seen if seen <= self.exact_up_to else max(seen, estimated_rows(queryset))
