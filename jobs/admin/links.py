"""Links between rows. Other apps register links from runs and batches to their own rows."""

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
from jobs.texts import short_id

NONE = SafeString("–")


@dataclass(frozen=True)
class Link:
    address: str
    text: Text


def address(model: type[Model], key: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[key])


def to(model: type[Model], key: Any, text: object = "") -> SafeString:
    """A link to the row with this key; without a text it shows the end of the key. A dash for no key."""
    if key is None or key == "":
        return NONE
    return format_html('<a href="{}">{}</a>', address(model, key), text or short_id(key))


def rows_of(model: type[Model], text: Text, **narrowed: Any) -> Link:
    """The list of the rows of a model that belong to another row."""
    target = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    return Link(f"{target}?{urlencode(narrowed)}", text)


# Makes the link to what triggered a run from the run's `source`.
Source = Callable[[str], Link | None]
_sources: dict[str, Source] = {}
# Further links of a batch, and of a run.
_of_batches: list[Callable[[Batch], Link | None]] = []
_of_runs: list[Callable[[Execution], Link | None]] = []


def register_source(trigger: str, link: Source) -> None:
    _sources[trigger] = link


def register_batch_link(link: Callable[[Batch], Link | None]) -> None:
    _of_batches.append(link)


def register_run_link(link: Callable[[Execution], Link | None]) -> None:
    _of_runs.append(link)


def source_of(run: Execution) -> Link | None:
    link = _sources.get(run.trigger)
    return link(run.source) if link and run.source else None


def batch_links(batch: Batch) -> list[Link]:
    return [link for make in _of_batches if (link := make(batch)) is not None]


def run_links(run: Execution) -> list[Link]:
    return [link for make in _of_runs if (link := make(run)) is not None]
