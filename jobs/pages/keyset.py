"""A list in pages that stay quick and never skip a row, however many there are and come meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F, QuerySet

from jobs.models import Job

SIZE = 50
DIGITS = 18


@dataclass(frozen=True)
class Page:
    """`older` and `newer` are the places to go on from; None where there is nothing more."""

    jobs: Sequence[Job]
    older: int | None
    newer: int | None


def place(text: str | None) -> int | None:
    """A row's number from the address; nonsense is no place."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= DIGITS else None


def page_of(
    jobs: QuerySet[Job],
    *,
    after: int | None = None,
    before: int | None = None,
    few: bool = False,
    size: int = SIZE,
) -> Page:
    """The newest first. `few`: they are few among very many, so no index in this order is to be walked."""
    seq = F("seq") + 0 if few else F("seq")
    if before is not None:
        found = list(jobs.filter(seq__gt=before).order_by(seq.asc())[: size + 1])
        more, rows = len(found) > size, found[:size][::-1]
        return Page(rows, rows[-1].seq if rows else before, rows[0].seq if more else None)
    if after is not None:
        jobs = jobs.filter(seq__lt=after)
    found = list(jobs.order_by(seq.desc())[: size + 1])
    rows = found[:size]
    return Page(
        rows, rows[-1].seq if len(found) > size else None, rows[0].seq if rows and after is not None else None
    )
