"""How the admin shows values: states with their colour, JSON without its secrets, attempts as bars."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from django.contrib import admin
from django.db.models import Model
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString

from jobs.admin.links import NONE, short, to
from jobs.display import Text
from jobs.models import Execution
from jobs.queries import RunRow, attempts_of
from jobs.templatetags import pages

# A function that shows something of a row. Django takes one wherever it takes a name; the stubs do not.
Shower = Any


def computed(words: Text, **options: Any) -> Callable[[Callable[..., object]], Any]:
    """For a function that makes a column, or a field of a page, from the row."""
    decorated: Callable[[Callable[..., object]], Any] = admin.display(description=cast(str, words), **options)
    return decorated


def column(name: str, words: Text, show: Callable[[Any], object]) -> Shower:
    """A column of a list and a field of a page that shows one attribute in its own way."""

    @computed(words)
    def shown(row: Any) -> object:
        return show(getattr(row, name))

    shown.__name__ = f"{name}_shown"
    return shown


def state(words: Text, name: str = "status") -> Shower:
    return column(name, words, pages.state)


def named(name: str, words: Text, names: Mapping[str, Text]) -> Shower:
    return column(name, words, lambda value: names.get(value, value) or NONE)


def linked(name: str, words: Text) -> Shower:
    """A foreign key, by its row's name: read it with list_select_related."""

    @computed(words)
    def shown(row: Any) -> SafeString:
        other = getattr(row, name)
        return NONE if other is None else to(type(other), other.pk, _brief(other))

    shown.__name__ = f"{name}_shown"
    return shown


def _brief(row: Model) -> str:
    """A run's name is its Task's and a whole id: in a list the id's end is enough."""
    return short(row.pk) if isinstance(row, Execution) else str(row)


def row_of(model: type[Model], name: str, words: Text) -> Shower:
    """The row that an id without a foreign key names."""
    return column(name, words, lambda key: to(model, key))


def json(name: str, words: Text) -> Shower:
    return column(name, words, pre)


def pre(value: Any) -> SafeString:
    return format_html('<pre class="dure-json" tabindex="0">{}</pre>', pages.as_json(value))


def milliseconds(name: str, words: Text) -> Shower:
    return column(name, words, lambda value: NONE if value is None else pages.duration(value / 1000))


def timeline(runs: Sequence[RunRow], *, links: bool = True) -> SafeString:
    """Executions, the newest first, with their attempts on one scale of time."""
    return render_to_string("admin/dure/timeline.html", {"runs": runs, "links": links})


def timeline_of(run: Execution, now: datetime) -> SafeString:
    last = run.finished_at or now
    attempts = attempts_of(run, run.started_at or run.created_at, last, now)
    return timeline([RunRow(run, attempts)], links=False)
