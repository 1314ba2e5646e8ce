"""Lists of Executions, the newest first, that stay quick among millions: see access.executions_by_cause."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from jobs.models import Execution


class Newest:
    """Parts that have nothing in common, as one list: of each the newest are asked for, and put in order."""

    def __init__(self, parts: Sequence[QuerySet[Execution]], rows: QuerySet[Execution]) -> None:
        self.parts = parts
        # How the rows of a page are read, once it is known which they are.
        self.rows = rows

    def __getitem__(self, wanted: slice) -> list[Execution]:
        # Ids grow with time.
        newest = [part.order_by("-id").values("id")[: wanted.stop] for part in self.parts]
        return self._read(_of_all(newest, "-id")[wanted.start or 0 : wanted.stop])

    def older(self, than: UUID | None, size: int) -> list[Execution]:
        parts = self.parts if than is None else [part.filter(id__lt=than) for part in self.parts]
        return Newest(parts, self.rows)[:size]

    def newer(self, than: UUID, size: int) -> list[Execution]:
        """Those next to `than`, the newest of them first."""
        next_ones = [part.filter(id__gt=than).order_by("id").values("id")[:size] for part in self.parts]
        return self._read(_of_all(next_ones, "id")[:size])

    def _read(self, ids: QuerySet[Any, Any]) -> list[Execution]:
        return list(self.rows.filter(pk__in=[row["id"] for row in ids]).order_by("-id"))


def _of_all(parts: Sequence[QuerySet[Any, Any]], order: str) -> QuerySet[Any, Any]:
    first, *others = parts
    return first.union(*others, all=True).order_by(order) if others else first
