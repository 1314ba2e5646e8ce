"""The page of a batch: its graph, its critical path, its timeline and its jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from jobs import queries
from jobs.display import Bar, time_bar
from jobs.insight import progress, stats
from jobs.insight.progress import Node
from jobs.models import Batch, Office
from jobs.pages.graph_drawing import draw
from jobs.pages.permissions import can_operate, office_access
from jobs.states import JobStatus

# A larger drawing shows nothing that a list does not.
MOST_DRAWN = 600
MOST_LISTED = 1_000


@gzip_page
@require_safe
@login_required
def batch(request: HttpRequest, office_id: UUID, batch_id: UUID) -> HttpResponse:
    return _render(request, office_id, batch_id, "jobs/batch.html")


@gzip_page
@require_safe
@login_required
def batch_live(request: HttpRequest, office_id: UUID, batch_id: UUID) -> HttpResponse:
    return _render(request, office_id, batch_id, "jobs/batch_live.html")


def _render(request: HttpRequest, office_id: UUID, batch_id: UUID, template: str) -> HttpResponse:
    access = office_access(request, office_id)
    office = access.office
    newest = queries.newest_event(office)
    batch = get_object_or_404(office.batches, pk=batch_id)
    context = {"section": "offices", "office": office, "batch": batch, "newest_event": newest}
    context["can_operate"] = can_operate(access)
    return render(request, template, context | batch_context(office, batch, timezone.now()))


def batch_context(office: Office, batch: Batch, now: datetime) -> dict[str, Any]:
    nodes = progress.nodes_of(batch)
    parents = progress.edges_of(batch, nodes)
    path = progress.critical_path(nodes, parents, stats.run_times(office.id), now)
    counts = progress.effective_counts_of([batch.id])[batch.id]
    listed = sorted(nodes, key=lambda node: node.status != JobStatus.FAILED)[:MOST_LISTED]
    span = time_span(nodes, now)
    return {
        "now": now,
        "counts": [(status, number) for status, number in counts.items() if number],
        "total": sum(counts.values()),
        "state": progress.state_of(counts),
        "failed": counts[JobStatus.FAILED],
        "percent": progress.percent(counts),
        "path_seconds": path.seconds,
        "estimated_end": progress.estimated_end(office, nodes, now),
        "drawing": draw(nodes, parents, path.jobs) if len(nodes) <= MOST_DRAWN else None,
        "span": span,
        "rows": timeline_rows(listed, set(path.jobs), span, now),
        "beyond": max(0, len(nodes) - MOST_LISTED),
    }


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
