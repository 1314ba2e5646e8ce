"""Lists in pages by any columns of which the last is unique; jobs/keyset.py has those by one number.

A place in such a list is a row's id. Whose row is gone meanwhile begins again at the top.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from django.http import QueryDict

SIZE = 50
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Page(Generic[Row]):
    """`before` and `after` are the places to go on from; None where there is nothing more."""

    rows: Sequence[Row]
    before: Any = None
    after: Any = None


def place(text: str | None) -> UUID | None:
    """A row's id from the address; nonsense is no place."""
    try:
        return UUID(text) if text else None
    except ValueError:
        return None


def page_of(
    rows: QuerySet[Row],
    order: Sequence[str],
    *,
    among: QuerySet[Row],
    after: UUID | None = None,
    before: UUID | None = None,
    size: int = SIZE,
) -> Page[Row]:
    """`order` has the names of columns, all with a `-` or none. A place is looked up `among` these."""
    names = [name.lstrip("-") for name in order]
    falls = order[0].startswith("-")
    there = None if before is None else among.filter(pk=before).values_list(*names).first()
    if there is not None:
        back = [name if falls else f"-{name}" for name in names]
        found = list(rows.filter(_beyond(names, there, falls)).order_by(*back)[: size + 1])
        shown = found[:size][::-1]
        return around(shown, has_before=len(found) > size, has_after=True)
    there = None if after is None else among.filter(pk=after).values_list(*names).first()
    if there is not None:
        rows = rows.filter(_beyond(names, there, not falls))
    found = list(rows.order_by(*order)[: size + 1])
    return around(found[:size], has_before=there is not None, has_after=len(found) > size)


def around(shown: Sequence[Row], *, has_before: bool, has_after: bool) -> Page[Row]:
    if not shown:
        return Page(shown)
    return Page(shown, shown[0].pk if has_before else None, shown[-1].pk if has_after else None)


def links(page: Page[Any], query: QueryDict) -> dict[str, str]:
    """The addresses of the same list before and after this page; empty where there is nothing more."""
    return {"newer": _link(query, "before", page.before), "older": _link(query, "after", page.after)}


def _beyond(names: Sequence[str], values: Sequence[Any], upward: bool) -> Q:
    """Rows behind this one: the first column alone says most of it, and an index can use that."""
    side = "gt" if upward else "lt"
    last = len(names) - 1
    beyond = Q(**{f"{names[last]}__{side}": values[last]})
    for name, value in zip(names[:last][::-1], values[:last][::-1], strict=True):
        beyond = Q(**{f"{name}__{side}e": value}) & (Q(**{f"{name}__{side}": value}) | beyond)
    return beyond


def _link(query: QueryDict, name: str, where: Any) -> str:
    if where is None:
        return ""
    moved = query.copy()
    moved[name] = str(where)
    return f"?{moved.urlencode()}"
