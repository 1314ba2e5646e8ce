"""Filters beside the lists, with fixed values: rendering them reads no large table."""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any, cast

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from jobs.admin.changelist import NEWEST, newest
from jobs.display import FAILURE_NAMES, Text
from jobs.ids import uuid7_at
from jobs.queries import known_roles
from jobs.states import Trigger

Condition = Callable[[str], Q]


class Choice(admin.SimpleListFilter):
    choices_by_value: Mapping[str, Text]
    condition: Condition
    is_indexed: bool

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, cast(str, text)) for value, text in self.choices_by_value.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        if value is None or value not in self.choices_by_value:
            return queryset
        rows = queryset.filter(type(self).condition(value))
        return rows if self.is_indexed else newest(rows)


def choice(
    column: str,
    title: Text,
    words: Mapping[str, Text] | Iterable[str],
    condition: Condition | None = None,
    *,
    indexed: bool = True,
) -> type[Choice]:
    """A filter by one column. Without an index it searches only the newest rows, as its title says."""
    names = words if isinstance(words, Mapping) else {word: word for word in words}
    full_title = title if indexed else format_lazy("{} · {} {}", title, _("newest"), f"{NEWEST:,}")
    attributes = {
        "title": full_title,
        "parameter_name": column,
        "choices_by_value": {str(value): text for value, text in names.items()},
        "condition": staticmethod(condition or (lambda value: Q(**{column: value}))),
        "is_indexed": indexed,
    }
    return cast(type[Choice], type(f"Choice_{column}", (Choice,), attributes))


class RoleChoice(Choice):
    title = format_lazy("{} · {} {}", _("role"), _("newest"), f"{NEWEST:,}")
    parameter_name = "role"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(role, role) for role in known_roles()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset if value is None else newest(queryset.filter(role=value))


def boolean_filter(column: str, title: Text) -> type[Choice]:
    return choice(column, title, {"1": _("yes"), "0": _("no")}, lambda value: Q(**{column: value == "1"}))


SPANS: dict[str, tuple[timedelta, Text]] = {
    "hour": (timedelta(hours=1), _("the last hour")),
    "day": (timedelta(days=1), _("the last day")),
    "week": (timedelta(days=7), _("the last 7 days")),
}


def since(value: str) -> Q:
    """Filter by the index of the ids, which begin with their time."""
    return Q(pk__gte=uuid7_at(timezone.now() - SPANS[value][0], smallest=True))


# The filters of several lists.
FAILURE_TYPE = choice("failure_type", _("failure reason"), FAILURE_NAMES, indexed=False)
TRIGGER = choice("trigger", _("trigger"), dict(Trigger.choices), indexed=False)
CREATED_SINCE = choice("since", _("Created"), {name: words for name, (_span, words) in SPANS.items()}, since)
