"""Pages of the lists of exports: `{content, page, size, totalElements, totalPages}`, from page 0."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from exports.schemas import Page
from jobs.api.framework.filtering import reject_unknown
from jobs.api.framework.problem_details import invalid_field
from jobs.api.framework.query import OneOf, WholeNumber
from jobs.api_model import ApiOut

MAX_ROW = 1_000_000
SIZE = WholeNumber("size", "The number of items on a page.", default=20, low=1, high=200)
PAGE = WholeNumber("page", "The page, from 0.", default=0, low=0, high=MAX_ROW)
PAGING = [PAGE.openapi, SIZE.openapi]


def page_of(
    request: Request,
    rows: QuerySet[Any],
    model: type[Page[Any]],
    object_of: Callable[[Any], ApiOut],
    **filters: OneOf,
) -> Response:
    """The page that is asked for, newest first. `filters` are parameters by the field that they are about."""
    reject_unknown(request, [parameter.name for parameter in (*filters.values(), PAGE, SIZE)])
    conditions = {field: parameter.of(request) for field, parameter in filters.items()}
    rows = rows.filter(**{field: value for field, value in conditions.items() if value}).order_by("-id")
    page, size = PAGE.of(request), SIZE.of(request)
    if page * size > MAX_ROW:
        raise invalid_field(PAGE.name, f"Only the first {MAX_ROW:,} rows have pages: narrow the filter.")
    total = rows.count()
    content = [object_of(row) for row in rows[page * size : (page + 1) * size]]
    values = {"content": content, "page": page, "size": size, "total_elements": total}
    return Response(model.write({**values, "total_pages": -(-total // size)}))
