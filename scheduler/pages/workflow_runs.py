"""The runs of all workflows, by state and time: what the tiles of the overview count."""

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from jobs.ids import parse_uuid
from jobs.keyset import page_links, page_of
from jobs.pages.permissions import current_user
from jobs.pages.selection import filter_query
from jobs.pages.time_range import RANGE_NAMES, RANGES
from jobs.selection import narrow
from scheduler import access
from scheduler.display import state_choices
from scheduler.models import WorkflowRun
from scheduler.pages.lists import FilterForm, choice_field
from scheduler.pages.workflows import run_rows
from scheduler.states import RunStatus


class WorkflowRunFilterForm(FilterForm):
    status = choice_field(_("State"), state_choices(RunStatus))
    ended = choice_field(_("Ended"), RANGE_NAMES, _("Any time"))

    def filter(self, rows: QuerySet[WorkflowRun]) -> QuerySet[WorkflowRun]:
        if ended := self.cleaned_data["ended"]:
            rows = rows.filter(ended_at__gte=timezone.now() - RANGES[ended])
        return narrow(rows, self.cleaned_data, {"status": "status"})


@require_safe
def workflow_runs(request: HttpRequest, *, template: str = "workflow_runs.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    form = WorkflowRunFilterForm(request.GET)
    visible = access.runs_of(current_user(request)).select_related("workflow", "started_by")
    matching = form.match(visible.defer("workflow_data", "workflow__steps"))
    after, before = (parse_uuid(request.GET.get(name)) for name in ("after", "before"))
    page = page_of(matching, order=("-id",), after=after, before=before)
    query = filter_query(request.GET, form.fields)
    context = {
        "section": "workflows",
        "now": timezone.now(),
        "form": form,
        "query": query,
        "rows": run_rows(page.rows),
        "live_at": f"{reverse('scheduler:workflow-runs-live')}?{request.GET.urlencode()}",
        **page_links(page, query),
    }
    return render(request, f"scheduler/{template}", context)
