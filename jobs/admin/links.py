"""Links between rows. The apps above say what their own Executions and batches come from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Model
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from jobs.display import Text
from jobs.models import Batch, Execution

NONE = SafeString("–")


@dataclass(frozen=True)
class Link:
    address: str
    text: Text


def address(model: type[Model], key: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[key])


def to(model: type[Model], key: Any, text: object = "") -> SafeString:
    """A link to the row with this key, by its last letters unless there is a name; a dash for none."""
    if key is None or key == "":
        return NONE
    return format_html('<a href="{}">{}</a>', address(model, key), text or short(key))


def short(key: Any) -> str:
    """The end of an id: the beginning of ours is the time, which neighbours share."""
    text = str(key)
    return text if len(text) < 20 else f"…{text[-8:]}"


def rows_of(model: type[Model], text: Text, **narrowed: Any) -> Link:
    """The list of those rows of a model that belong to another row."""
    target = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    return Link(f"{target}?{urlencode(narrowed)}", text)


# What caused an Execution, by its trigger: made of its `source`.
Source = Callable[[str], Link | None]
_sources: dict[str, Source] = {}
# What else belongs to a batch, and to a run.
_of_batches: list[Callable[[Batch], Link | None]] = []
_of_runs: list[Callable[[Execution], Link | None]] = []


def source(trigger: str, link: Source) -> None:
    _sources[trigger] = link


def of_batches(link: Callable[[Batch], Link | None]) -> None:
    _of_batches.append(link)


def of_runs(link: Callable[[Execution], Link | None]) -> None:
    _of_runs.append(link)


def source_of(run: Execution) -> Link | None:
    known = _sources.get(run.trigger)
    return known(run.source) if known and run.source else None


def more_of_batch(batch: Batch) -> list[Link]:
    return [found for link in _of_batches if (found := link(batch)) is not None]


def more_of_run(run: Execution) -> list[Link]:
    return [found for link in _of_runs if (found := link(run)) is not None]
