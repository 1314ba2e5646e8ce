"""The filter of a list and the place of its page, from the query of its URL."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Model, QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _

from jobs.ids import parse_number
from jobs.keyset import Page, page_of

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Filter:
    params: QueryDict  # without empty and unknown values
    problems: list[str]

    def get(self, name: str) -> str:
        return self.params.get(name) or ""


def read_filter(query: QueryDict, choices: Mapping[str, Collection[str]]) -> Filter:
    params, problems = QueryDict(mutable=True), list[str]()
    for name, allowed in choices.items():
        value = query.get(name)
        if not value:
            continue
        if value in allowed:
            params[name] = value
        else:
            problems.append(
                _("%(name)s must be one of %(values)s.") % {"name": name, "values": ", ".join(allowed)}
            )
    return Filter(params, problems)


def page_newest_first(rows: QuerySet[Row], query: QueryDict, size: int) -> Page[Row]:
    after, before = parse_number(query.get("after")), parse_number(query.get("before"))
    return page_of(rows, after=after, before=before, size=size, order=("-pk",))
