"""What a batch's page shows of its jobs, by its address: how they are grouped, and which rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from jobs.pages import graph_groups

SINGLE = "job"
ALL, FAILED = "all", "failed"


@dataclass(frozen=True)
class BatchView:
    # A kind of graph_groups, SINGLE, or nothing for what suits the number of jobs.
    group: str = ""
    # The key of the open group.
    opened: str = ""
    rows: str = ""

    @property
    def query(self) -> str:
        values = {"group": self.group, "open": self.opened, "rows": self.rows}
        return "?" + urlencode({name: value for name, value in values.items() if value})

    def with_groups(self, kind: str) -> "BatchView":
        return replace(self, group=kind, opened="")

    def with_open(self, kind: str, key: str) -> "BatchView":
        return replace(self, group=kind, opened=key)

    def with_rows(self, rows: str) -> "BatchView":
        return replace(self, rows=rows)


def view_of(query: Mapping[str, str]) -> BatchView:
    """Unknown values count as none."""
    group, rows = query.get("group", ""), query.get("rows", "")
    return BatchView(
        group if group in (SINGLE, *graph_groups.KINDS) else "",
        query.get("open", ""),
        rows if rows in (ALL, FAILED) else "",
    )
