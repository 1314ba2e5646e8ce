"""A list of the admin that stays quick however many rows there are, and skips none as others come.

A page goes on from a row, not from a number of rows. Nothing is counted: how many there are is exact on a
list of one page, and beyond it the planner's guess.
"""

from typing import TYPE_CHECKING, Any

from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs.keyset import estimated_rows, page_of

if TYPE_CHECKING:
    from jobs.admin.base import QuickList

AFTER, BEFORE = "after", "before"


class KeysetList(ChangeList):
    """`?p=after:<place>` and `?p=before:<place>`: the admin keeps its own `p` out of all filters."""

    model_admin: "QuickList"

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:
        """By an index, and not by whatever column somebody writes into the address."""
        return [f"-{self.model_admin.order_within(self.params).by}"]

    def get_results(self, request: HttpRequest) -> None:
        order = self.model_admin.order_within(self.params)
        way, _, text = request.GET.get(PAGE_VAR, "").partition(":")
        place = _place(self.lookup_opts.get_field(order.by), text)
        page = page_of(
            self.queryset,
            after=place if way == AFTER else None,
            before=place if way == BEFORE else None,
            few=order.few,
            size=self.list_per_page,
            order=(f"-{order.by}",),
        )
        self.result_list = page.rows
        self.newer, self.older = self._link(BEFORE, page.newer), self._link(AFTER, page.older)
        self.is_rough = bool(self.newer or self.older)
        shown = len(page.rows)
        self.result_count = max(estimated_rows(self.queryset), shown + 1) if self.is_rough else shown
        self.shown_count = f"{self.result_count:,}"
        self.full_result_count = None
        self.show_full_result_count = self.show_all = self.can_show_all = False
        self.show_admin_actions = self.multi_page = True

    def _link(self, way: str, place: Any) -> str:
        if place is None:
            return ""
        text = place.isoformat() if hasattr(place, "isoformat") else place
        return self.get_query_string({PAGE_VAR: f"{way}:{text}"})


def _place(field: Any, text: str) -> Any:
    """Nonsense is no place."""
    try:
        return field.to_python(text) if text else None
    except ValidationError:
        return None
