"""The lists of this app: `{content, page, size, totalElements, totalPages}`, pages from 0."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.rest.problems import Problem

DEFAULT_SIZE, LARGEST_SIZE = 20, 200
DEEPEST_ROW = 1_000_000


def page_of(request: Request, rows: QuerySet[Any], shape: Callable[[Any], dict[str, Any]]) -> Response:
    size = _number(request, "size", DEFAULT_SIZE, 1, LARGEST_SIZE)
    page = _number(request, "page", 0, 0, DEEPEST_ROW // size)
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


def _number(request: Request, name: str, default: int, low: int, high: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else -1
    if not low <= number <= high:
        sentence = f"Must be a whole number from {low} to {high}."
        raise Problem(400, "invalid", f"{name}: {sentence}", errors={name: [sentence]})
    return number


def choice(request: Request, name: str, allowed: list[str]) -> str | None:
    """A filter of the query, or None when it is not there."""
    value = request.query_params.get(name)
    if value is not None and value not in allowed:
        sentence = f"Must be one of {', '.join(allowed)}."
        raise Problem(400, "invalid", f"{name}: {sentence}", errors={name: [sentence]})
    return value
