"""Lists that refresh in place: their rows stay where they are, and newer rows are announced.

The address of the part that refreshes names the newest row that the page may show. A list needs a page at
`<address>/live` with that part, an include of `jobs/new_rows.html` in it, and the context from here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import QueryDict

from jobs.ids import parse_uuid, uuid7

# New rows are counted up to this number.
MOST_NEW = 100

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class New:
    number: int = 0
    more: bool = False

    @classmethod
    def of(cls, counted: int) -> "New":
        return cls(min(counted, MOST_NEW), counted > MOST_NEW)


@dataclass(frozen=True)
class Place:
    """The page of a list that an address names, and the newest row when it was opened, by this column."""

    after: Any
    before: Any
    newest: Any
    column: str = "id"

    @classmethod
    def read(
        cls, data: QueryDict, column: str = "id", parse: Callable[[str | None], Any] = parse_uuid
    ) -> "Place":
        after, before, newest = (parse(data.get(name)) for name in ("after", "before", "newest"))
        return cls(after, before, newest, column)

    @property
    def is_first(self) -> bool:
        return self.after is None and self.before is None

    def exclude_newer(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """The rows without the newer ones."""
        return rows if self.newest is None else rows.filter(**{f"{self.column}__lte": self.newest})

    def count_new(self, rows: QuerySet[Any]) -> New:
        if self.newest is None:
            return New()
        newer = rows.filter(**{f"{self.column}__gt": self.newest}).order_by()
        return New.of(newer.values("pk")[: MOST_NEW + 1].count())

    def context(self, address: str, query: QueryDict, new: New, newest: Any = None) -> dict[str, Any]:
        """For the templates. `newest` is read after the rows, so that none of them disappears again."""
        if newest is None:
            newest = uuid7()
        if self.newest is not None:
            newest = self.newest
        page = query.copy()
        cursors = {"after": self.after, "before": self.before}
        page.update({name: str(place) for name, place in cursors.items() if place is not None})
        pinned = page.copy()
        pinned["newest"] = str(newest)
        return {
            "live_at": f"{address}/live?{pinned.urlencode()}",
            "list_at": with_query(address, query),
            # Where the forms of the rows lead back.
            "back": with_query(address, page),
            "newest": newest,
            "new": new,
        }


def with_query(address: str, query: QueryDict) -> str:
    return f"{address}?{query.urlencode()}" if query else address
