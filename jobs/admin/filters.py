"""Filters beside the lists: few values that are known beforehand, so nothing is asked of the table."""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from jobs.admin.changelist import NEWEST, newest
from jobs.display import Text

Condition = Callable[[str], Q]


class Choice(admin.SimpleListFilter):
    words: Mapping[str, Text]
    condition: Condition
    is_indexed: bool

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, cast(str, text)) for value, text in self.words.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        if value is None or value not in self.words:
            return queryset
        found = queryset.filter(type(self).condition(value))
        return found if self.is_indexed else newest(found)


def choice(
    column: str,
    title: Text,
    words: Mapping[str, Text] | Iterable[str],
    condition: Condition | None = None,
    *,
    indexed: bool = True,
) -> type[Choice]:
    """Where no index answers, it is among the newest rows, and its title says so."""
    named = words if isinstance(words, Mapping) else {word: word for word in words}
    told = title if indexed else format_lazy("{} · {} {}", title, _("newest"), f"{NEWEST:,}")
    facts = {
        "title": told,
        "parameter_name": column,
        "words": {str(value): text for value, text in named.items()},
        "condition": staticmethod(condition or (lambda value: Q(**{column: value}))),
        "is_indexed": indexed,
    }
    return cast(type[Choice], type(f"Choice_{column}", (Choice,), facts))


def yes_or_no(column: str, title: Text) -> type[Choice]:
    return choice(column, title, {"1": _("yes"), "0": _("no")}, lambda value: Q(**{column: value == "1"}))


SPANS: dict[str, tuple[timedelta, Text]] = {
    "hour": (timedelta(hours=1), _("the last hour")),
    "day": (timedelta(days=1), _("the last day")),
    "week": (timedelta(days=7), _("the last 7 days")),
}


def since(value: str) -> Q:
    """Our ids begin with their time, so the index of the ids answers."""
    milliseconds = int((timezone.now() - SPANS[value][0]).timestamp() * 1000)
    return Q(pk__gte=UUID(int=milliseconds << 80))


MADE_SINCE = choice("since", _("Created"), {name: words for name, (_span, words) in SPANS.items()}, since)
