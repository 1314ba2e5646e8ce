"""The page of a batch: its graph, its critical path, its timeline and its jobs."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from jobs import queries
from jobs.insight import progress, stats
from jobs.models import Batch, Office
from jobs.pages.batch_graph import batch_graph
from jobs.pages.batch_view import ALL, FAILED, BatchView, view_of
from jobs.pages.permissions import office_access, office_context
from jobs.pages.timeline import time_span, timeline_rows, visible_nodes


@gzip_page
@require_safe
def batch(
    request: HttpRequest, office_id: UUID, batch_id: UUID, *, template: str = "batch.html"
) -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    access = office_access(request, office_id)
    office = access.office
    newest = queries.newest_event(office)
    batch = get_object_or_404(office.batches, pk=batch_id)
    context = {
        **office_context(access),
        "batch": batch,
        "newest_event": newest,
        **batch_context(office, batch, timezone.now(), view_of(request.GET)),
    }
    return render(request, f"jobs/{template}", context)


def batch_context(office: Office, batch: Batch, now: datetime, view: BatchView) -> dict[str, Any]:
    nodes = progress.nodes_of(batch)
    parents = progress.edges_of(batch, nodes)
    path = progress.critical_path(nodes, parents, stats.run_times(office.id), now)
    rows, beyond = visible_nodes(nodes, view.rows)
    span = time_span(nodes, now)
    return {
        "now": now,
        "progress": progress.effective_progress_of([batch.id])[batch.id],
        "path_seconds": path.seconds,
        "estimated_end": progress.estimated_end(office, nodes, now),
        "graph": batch_graph(nodes, parents, path.jobs, view),
        "view": view,
        "span": span,
        "rows": timeline_rows(rows, set(path.jobs), span, now),
        "beyond": beyond,
        "row_choices": [
            (_("First 100"), view.with_rows(""), view.rows == ""),
            (_("Failed only"), view.with_rows(FAILED), view.rows == FAILED),
            (_("Show all"), view.with_rows(ALL), view.rows == ALL),
        ],
    }
