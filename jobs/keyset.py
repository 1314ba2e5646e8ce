"""A list in pages that stay quick and never skip a row, however many there are and come meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, TypeVar

from django.db.models import F, Model, QuerySet
from django.http import QueryDict

SIZE = 50
DIGITS = 18

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Page(Generic[Row]):
    """`older` and `newer` are the places to go on from; None where there is nothing more."""

    rows: Sequence[Row]
    older: int | None
    newer: int | None


def place(text: str | None) -> int | None:
    """A row's number from the address; nonsense is no place."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= DIGITS else None


def page_of(
    rows: QuerySet[Row],
    *,
    after: int | None = None,
    before: int | None = None,
    few: bool = False,
    size: int = SIZE,
    by: str = "seq",
) -> Page[Row]:
    """The newest first, `by` a number that grows.

    `few`: they are few among very many, so no index in this order is to be walked.
    """
    order, number = (F(by) + 0 if few else F(by)), attrgetter(by)
    if before is not None:
        found = list(rows.filter(**{f"{by}__gt": before}).order_by(order.asc())[: size + 1])
        more, shown = len(found) > size, found[:size][::-1]
        return Page(shown, number(shown[-1]) if shown else before, number(shown[0]) if more else None)
    if after is not None:
        rows = rows.filter(**{f"{by}__lt": after})
    found = list(rows.order_by(order.desc())[: size + 1])
    shown = found[:size]
    return Page(
        shown,
        number(shown[-1]) if len(found) > size else None,
        number(shown[0]) if shown and after is not None else None,
    )


def links(page: Page[Any], query: QueryDict) -> dict[str, str]:
    """The addresses of the same list before and after this page; empty where there is nothing more."""
    return {"newer": _link(query, before=page.newer), "older": _link(query, after=page.older)}


def _link(query: QueryDict, **where: int | None) -> str:
    ((name, number),) = where.items()
    if number is None:
        return ""
    moved = query.copy()
    moved[name] = str(number)
    return f"?{moved.urlencode()}"
