"""The timeline of a batch: a row for each job, with its bar between the first start and the last end."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jobs.display import Bar, time_bar
from jobs.insight.progress import Node
from jobs.pages.batch_view import ALL, FAILED
from jobs.states import JobStatus

MOST_AT_FIRST, MOST_LISTED = 100, 1_000


@dataclass(frozen=True)
class Span:
    """The time from the first start to the last end, or to now during a run."""

    first: datetime
    last: datetime


def time_span(nodes: Sequence[Node], now: datetime) -> Span | None:
    starts = [node.started_at for node in nodes if node.started_at]
    if not starts:
        return None
    running = any(node.started_at and not node.completed_at for node in nodes)
    ends = [node.completed_at for node in nodes if node.completed_at]
    return Span(min(starts), now if running else max(ends, default=now))


@dataclass(frozen=True)
class TimelineRow:
    node: Node
    critical: bool
    bar: Bar | None


def timeline_rows(
    nodes: Sequence[Node], path: set[str], span: Span | None, now: datetime
) -> list[TimelineRow]:
    return [
        TimelineRow(
            node,
            node.id in path,
            time_bar(node.started_at, node.completed_at or now, span.first, span.last) if span else None,
        )
        for node in nodes
    ]


def visible_nodes(nodes: Sequence[Node], rows: str) -> tuple[list[Node], int]:
    """The jobs with a row, failed ones first, and how many are left out."""
    matching = [node for node in nodes if rows != FAILED or node.status == JobStatus.FAILED]
    matching.sort(key=lambda node: node.status != JobStatus.FAILED)
    most = MOST_LISTED if rows == ALL else MOST_AT_FIRST
    return matching[:most], max(0, len(matching) - most)
