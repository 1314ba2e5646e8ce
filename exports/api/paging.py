"""The lists of this app: `{content, page, size, totalElements, totalPages}`, pages from 0."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.framework.query import Whole, wrong

DEEPEST_ROW = 1_000_000
SIZE = Whole("size", "How many a page has.", default=20, low=1, high=200)
PAGE = Whole("page", "Which page, from 0.", default=0, low=0, high=DEEPEST_ROW)
PAGING = [PAGE.described, SIZE.described]


def page_of(request: Request, rows: QuerySet[Any], shape: Callable[[Any], dict[str, Any]]) -> Response:
    page, size = PAGE.of(request), SIZE.of(request)
    if page * size > DEEPEST_ROW:
        raise wrong(PAGE.name, f"Only the first {DEEPEST_ROW:,} rows have pages: narrow the filter.")
    total = rows.count()
    return Response(
        {
            "content": [shape(row) for row in rows[page * size : (page + 1) * size]],
            "page": page,
            "size": size,
            "totalElements": total,
            "totalPages": -(-total // size),
        }
    )
