"""Lists with a filter: its form, the page of rows that an address names, and the links around them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from django import forms
from django.db.models import Model, QuerySet
from django.http import HttpRequest, QueryDict
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from jobs.display import Text
from jobs.ids import uuid7
from jobs.keyset import page_links, page_of
from jobs.pages.live_list import Place
from jobs.pages.selection import filter_query

Row = TypeVar("Row", bound=Model)

BY_NAME = ("name", "id")
ALL = _("all")


class FilterForm(forms.Form):
    """The filter of a list, as its address has it."""

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data, auto_id=False)

    def match(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The rows that match; none if a field is wrong."""
        return self.filter(rows) if self.is_valid() else rows.none()

    def filter(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The rows that match a valid form."""
        raise NotImplementedError


def choice_field(label: Any, choices: Iterable[tuple[str, Text]], any_text: Text = ALL) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=[("", any_text), *choices], required=False)


def text_field(label: Any) -> forms.CharField:
    widget = forms.TextInput({"autocapitalize": "none"})
    return forms.CharField(label=label, max_length=200, required=False, widget=widget)


def read_list(
    request: HttpRequest,
    form: FilterForm,
    visible: QuerySet[Row],
    *,
    address: str,
    order: Sequence[str] = BY_NAME,
    place: Place | None = None,
    newest: Callable[[], Any] = uuid7,
) -> tuple[Sequence[Row], dict[str, Any]]:
    """The rows of the page that the request names, and the context of the templates around them.

    `newest` says which row is the newest now: it is called after the rows are read.
    """
    place = place or Place.read(request.GET)
    matching = form.match(visible)
    page = page_of(
        place.exclude_newer(matching), order=order, among=visible, after=place.after, before=place.before
    )
    query = filter_query(request.GET, form.fields)
    return page.rows, {
        "now": timezone.now(),
        "form": form,
        "query": query,
        **page_links(page, query),
        **place.context(address, query, place.count_new(matching), newest()),
    }
