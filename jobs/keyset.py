"""Keyset pagination: pages that stay quick and skip no row, however many rows there are or arrive meanwhile.

A cursor is the value of the last column of the order, which is unique. The addresses of pages carry it as
`after` and `before`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, TypeVar

from django.db.models import F, Model, Q, QuerySet
from django.http import QueryDict

SIZE = 50

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Page(Generic[Row]):
    """`newer` is the cursor to read `before`, `older` the cursor to read `after`; None: no such page."""

    rows: Sequence[Row]
    newer: Any = None
    older: Any = None


def page_of(
    rows: QuerySet[Row],
    *,
    order: Sequence[str] = ("-seq",),
    after: Any = None,
    before: Any = None,
    among: QuerySet[Row] | None = None,
    few: bool = False,
    size: int = SIZE,
) -> Page[Row]:
    """One page in this order of columns, which all have a `-` or none.

    With several columns a cursor stands for the row `among` these that has it; a cursor without a row
    starts again at the top. `few`: these rows are few among very many, so that PostgreSQL must not find
    them by reading an index in this order.
    """
    names = [name.lstrip("-") for name in order]
    descending = order[0].startswith("-")
    cursor = attrgetter(names[-1])
    # An expression has no index.
    columns = [F(name) + 0 if few else F(name) for name in names]
    forward = [column.desc() if descending else column.asc() for column in columns]
    backward = [column.asc() if descending else column.desc() for column in columns]
    others = rows if among is None else among
    start = _values(others, names, before)
    if start is not None:
        result = list(rows.filter(_beyond(names, start, descending)).order_by(*backward)[: size + 1])
        page_rows = result[:size][::-1]
        newer = cursor(page_rows[0]) if len(result) > size else None
        return Page(page_rows, newer, cursor(page_rows[-1]) if page_rows else before)
    start = _values(others, names, after)
    if start is not None:
        rows = rows.filter(_beyond(names, start, not descending))
    result = list(rows.order_by(*forward)[: size + 1])
    page_rows = result[:size]
    return Page(
        page_rows,
        cursor(page_rows[0]) if page_rows and start is not None else None,
        cursor(page_rows[-1]) if len(result) > size else None,
    )


def _values(rows: QuerySet[Any], names: Sequence[str], cursor: Any) -> tuple[Any, ...] | None:
    """The ordering columns of the row with this cursor."""
    if cursor is None or len(names) == 1:
        return None if cursor is None else (cursor,)
    return rows.filter(**{names[-1]: cursor}).values_list(*names).first()


def _beyond(names: Sequence[str], values: Sequence[Any], upward: bool) -> Q:
    """Rows behind this one: the first column alone says most of it, and an index can use that."""
    side = "gt" if upward else "lt"
    last = len(names) - 1
    beyond = Q(**{f"{names[last]}__{side}": values[last]})
    for name, value in zip(names[:last][::-1], values[:last][::-1], strict=True):
        beyond = Q(**{f"{name}__{side}e": value}) & (Q(**{f"{name}__{side}": value}) | beyond)
    return beyond


def page_links(page: Page[Any], query: QueryDict) -> dict[str, str]:
    """The addresses of the pages before and after this one, with the same filter; empty: no such page."""
    return {"newer": _link(query, "before", page.newer), "older": _link(query, "after", page.older)}


def _link(query: QueryDict, name: str, cursor: Any) -> str:
    if cursor is None:
        return ""
    moved = query.copy()
    moved[name] = str(cursor)
    return f"?{moved.urlencode()}"


class NewestOfParts(Generic[Row]):
    """Querysets that have no row in common as one list, newest first: ids grow with time.

    The newest ids of each part are read and merged; `rows` says how the rows of a page are then read.
    """

    def __init__(self, parts: Sequence[QuerySet[Row]], rows: QuerySet[Row]) -> None:
        self.parts = parts
        self.rows = rows

    def __getitem__(self, bounds: slice) -> list[Row]:
        first, *others = [part.order_by("-id").values("id")[: bounds.stop] for part in self.parts]
        newest = first.union(*others, all=True).order_by("-id") if others else first
        ids = [row["id"] for row in newest[bounds.start or 0 : bounds.stop]]
        return list(self.rows.filter(pk__in=ids).order_by("-id"))


def estimated_rows(rows: QuerySet[Any]) -> int:
    """How many rows the planner expects; it reads none of them."""
    plan = json.loads(rows.order_by().explain(format="json"))
    return int(plan[0]["Plan"]["Plan Rows"])
