"""Lists of the admin that stay quick with millions of rows, and skip none as others arrive.

A page starts at a row, not at a number of rows. No rows are counted: the number of rows is exact on a list of
one page, and an estimate of the planner beyond it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

from jobs.api.framework.pagination import RoughPagination
from jobs.keyset import estimated_rows, page_of

if TYPE_CHECKING:
    from jobs.admin.base import LargeTableAdmin

AFTER, BEFORE = "after", "before"
# How many of the newest rows are tested by conditions that no index answers.
NEWEST = 100_000


class EstimatingPaginator(Paginator):  # type: ignore[type-arg]
    """A paginator for small tables and selection boxes: exact up to some thousands of rows."""

    @cached_property
    def count(self) -> int:
        return RoughPagination().count_of(self.object_list)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Order:
    """The column by which a list is ordered and paged. `few`: by sorting, not by an index of all rows."""

    by: str
    few: bool = False


class KeysetChangeList(ChangeList):
    """`?p=after:<cursor>` and `?p=before:<cursor>`: the admin keeps its own `p` out of all filters."""

    model_admin: "LargeTableAdmin"

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:
        """The order of an index; the URL cannot name another column."""
        return [f"-{self.model_admin.order_within(self.params).by}"]

    def get_results(self, request: HttpRequest) -> None:
        order = self.model_admin.order_within(self.params)
        direction, _, text = request.GET.get(PAGE_VAR, "").partition(":")
        cursor = _cursor(self.lookup_opts.get_field(order.by), text)
        page = page_of(
            self.queryset,
            after=cursor if direction == AFTER else None,
            before=cursor if direction == BEFORE else None,
            few=order.few,
            size=self.list_per_page,
            order=(f"-{order.by}",),
        )
        self.result_list = page.rows
        self.newer, self.older = self._link(BEFORE, page.newer), self._link(AFTER, page.older)
        self.is_rough = bool(self.newer or self.older)
        count = len(page.rows)
        self.result_count = max(estimated_rows(self.queryset), count + 1) if self.is_rough else count
        self.shown_count = f"{self.result_count:,}"
        self.full_result_count = None
        self.show_full_result_count = self.show_all = self.can_show_all = False
        self.show_admin_actions = self.multi_page = True

    def _link(self, direction: str, cursor: Any) -> str:
        if cursor is None:
            return ""
        text = cursor.isoformat() if hasattr(cursor, "isoformat") else cursor
        return self.get_query_string({PAGE_VAR: f"{direction}:{text}"})


def _cursor(field: Any, text: str) -> Any:
    """The column's value in a text; None if it is none."""
    try:
        return field.to_python(text) if text else None
    except ValidationError:
        return None


def newest(rows: QuerySet[Any]) -> QuerySet[Any]:
    """The rows among the newest of the table, for conditions without an index."""
    ids = rows.model._default_manager.order_by("-pk").values_list("pk", flat=True)
    oldest = next(iter(ids[NEWEST - 1 : NEWEST]), None)
    return rows if oldest is None else rows.filter(pk__gte=oldest)
