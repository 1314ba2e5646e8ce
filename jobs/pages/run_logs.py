"""The log of a run on its page, and on a page of its own with filters."""

from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from jobs.models import Execution
from jobs.pages.permissions import office_access
from jobs.run_logs import reading
from jobs.run_logs.lines import LEVELS, level_number
from jobs.run_logs.reading import NEWEST, Selection
from jobs.states import EXECUTION_ENDED

LINES_ON_RUN = 200
LINES_ON_PAGE = 1_000


class LogFilterForm(forms.Form):
    attempt = forms.IntegerField(label=_("Attempt"), min_value=1, max_value=2**20, required=False)
    level = forms.ChoiceField(
        label=_("Level"), choices=[("", _("all")), *((name, name) for name in LEVELS)], required=False
    )
    q = forms.CharField(label=_("Search"), max_length=200, required=False)
    before = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=NEWEST, required=False)

    def selection(self) -> Selection:
        values = self.cleaned_data if self.is_valid() else {}
        return Selection(values.get("attempt"), level_number(values.get("level")), values.get("q", ""))


def log_context(
    request: HttpRequest, run: Execution | None, page: str, download: str, count: int = LINES_ON_RUN
) -> dict[str, Any]:
    """The last lines of the run before `?before=`; `page` and `download` are addresses."""
    form = LogFilterForm(request.GET)
    only, before = form.selection(), NEWEST
    if form.is_valid():
        before = form.cleaned_data["before"] or NEWEST
    lines = reading.lines_before(run.pk, before, count + 1, only) if run else []
    earlier, lines = len(lines) > count, lines[-count:]
    query = request.GET.copy()
    if earlier:
        query["before"] = str(lines[0].seq)
    cut = 0 if run is None or earlier else sum(reading.cut_lines(run, only).values())
    return {
        "log_run": run,
        "log_lines": lines,
        "log_form": form,
        "log_cut": cut,
        "log_earlier": f"{page}?{query.urlencode()}" if earlier else "",
        "log_page": page,
        "log_download": download,
        # The page follows the run while it shows its end.
        "log_follows": run is not None and run.status not in EXECUTION_ENDED and before == NEWEST,
        "log_after": lines[-1].seq if lines else 0,
    }


def job_log_context(request: HttpRequest, job: Any, count: int = LINES_ON_RUN) -> dict[str, Any]:
    page = reverse("pages:job-log", args=[job.office_id, job.pk])
    download = f"/api/offices/{job.office_id}/jobs/{job.pk}/logs.txt"
    return log_context(request, reading.latest_run(job), page, download, count)


@require_safe
def job_log(request: HttpRequest, office_id: UUID, job_id: UUID) -> HttpResponse:
    access = office_access(request, office_id)
    job = get_object_or_404(access.office.jobs, pk=job_id)
    context = {
        "section": "offices",
        "title": str(job),
        "back": reverse("pages:job", args=[office_id, job_id]),
        **job_log_context(request, job, LINES_ON_PAGE),
    }
    return render(request, "jobs/run_log_page.html", context)
