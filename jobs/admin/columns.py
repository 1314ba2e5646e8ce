"""Columns and fields of the admin: states with their colour, JSON without secrets, attempts as bars."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from django.contrib import admin
from django.db.models import Model
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from jobs.admin.links import NONE, to
from jobs.display import FAILURE_NAMES, Text, duration
from jobs.models import Execution
from jobs.queries import RunRow, attempts_of
from jobs.templatetags import pages
from jobs.texts import short_id

# A function of a row. Django accepts it wherever it accepts the name of a field; its type stubs do not.
Column = Any


def display(words: Text, **options: Any) -> Callable[[Callable[..., object]], Any]:
    """Make a function of a row a column of a list, or a field of a page."""
    decorated: Callable[[Callable[..., object]], Any] = admin.display(description=cast(str, words), **options)
    return decorated


def column(name: str, words: Text, show: Callable[[Any], object]) -> Column:
    """A column that shows one attribute through a function."""

    @display(words)
    def value(row: Any) -> object:
        return show(getattr(row, name))

    # Django uses it as the name of the column.
    value.__name__ = f"{name}_column"
    return value


def state(words: Text, name: str = "status") -> Column:
    return column(name, words, pages.state)


def label(name: str, words: Text, names: Mapping[str, Text]) -> Column:
    return column(name, words, lambda value: names.get(value, value) or NONE)


def link(name: str, words: Text) -> Column:
    """A foreign key as a link; needs list_select_related."""

    @display(words)
    def link(row: Any) -> SafeString:
        other = getattr(row, name)
        return NONE if other is None else to(type(other), other.pk, _link_text(other))

    link.__name__ = f"{name}_column"
    return link


def _link_text(row: Model) -> str:
    """A run's name is its Task and its whole id: in a list the end of the id is enough."""
    return short_id(row.pk) if isinstance(row, Execution) else str(row)


def row_of(model: type[Model], name: str, words: Text) -> Column:
    """A link to the row with this id, where the column is no foreign key."""
    return column(name, words, lambda key: to(model, key))


def json(name: str, words: Text) -> Column:
    return column(name, words, pre)


def pre(value: Any) -> SafeString:
    return format_html('<pre class="dure-json" tabindex="0">{}</pre>', pages.as_json(value))


def milliseconds(name: str, words: Text) -> Column:
    return column(name, words, lambda value: NONE if value is None else duration(value / 1000))


def seconds(name: str, words: Text) -> Column:
    return column(name, words, lambda value: NONE if value is None else duration(value))


def period(name: str, words: Text) -> Column:
    return column(name, words, lambda value: NONE if value is None else duration(value.total_seconds()))


def milliseconds_by_name(name: str, words: Text) -> Column:
    return column(
        name,
        words,
        lambda value: ", ".join(f"{key} {duration(ms / 1000)}" for key, ms in value.items()) or NONE,
    )


# The columns of several lists.
STATE = state(_("state"))
FAILURE = label("failure_type", _("failure reason"), FAILURE_NAMES)
OFFICE = link("office", _("office"))
USER = link("user", _("user"))


def fieldset(title: Text | None, *fields: Column) -> Any:
    return title, {"fields": fields}


def in_fieldsets(fieldsets: Any, columns: Mapping[str, Column]) -> Any:
    """The fieldsets with these columns instead of the fields of their names."""
    return [
        (title, {**options, "fields": [columns.get(name, name) for name in options["fields"]]})
        for title, options in fieldsets
    ]


def timeline(runs: Sequence[RunRow], *, links: bool = True) -> SafeString:
    """Runs with their attempts on one timeline."""
    return render_to_string("admin/dure/timeline.html", {"runs": runs, "links": links})


def timeline_of(run: Execution, now: datetime) -> SafeString:
    last = run.finished_at or now
    attempts = attempts_of(run, run.started_at or run.created_at, last, now)
    return timeline([RunRow(run, attempts)], links=False)
