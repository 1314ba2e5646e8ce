"""The step queues that the user may see."""

from collections.abc import Collection
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from jobs.ids import parse_number
from jobs.keyset import page_links, page_of
from jobs.pages.permissions import current_user
from jobs.pages.selection import filter_query
from jobs.selection import narrow
from scheduler.steps.access import queues_of
from scheduler.steps.models import Step, StepQueue
from scheduler.steps.pages import labels
from scheduler.steps.states import JobState, QueueState, append_state

# Up to 256 KiB each, and not shown in a list.
LARGE_FIELDS = ("context", "queue_return")


class QueueFilterForm(forms.Form):
    state = forms.MultipleChoiceField(choices=QueueState.choices, required=False)
    undo_failed = forms.BooleanField(label=_("Rollback failed"), required=False)
    name = forms.CharField(label=_("Name"), required=False, max_length=200)
    queue_library = forms.CharField(label=_("Library"), required=False, max_length=100)


@require_safe
@login_required
def queues(request: HttpRequest) -> HttpResponse:
    form = QueueFilterForm(request.GET)
    valid = form.is_valid()
    query = filter_query(request.GET, form.fields)
    visible = queues_of(current_user(request)).select_related("office", "owner").defer(*LARGE_FIELDS)
    page = page_of(
        filter_queues(visible, form.cleaned_data) if valid else visible.none(),
        order=("-queue_id",),
        after=parse_number(request.GET.get("after")),
        before=parse_number(request.GET.get("before")),
    )
    failed = queues_with_failed_rollback([queue.queue_id for queue in page.rows])
    rows = [
        {"queue": queue, "label": labels.queue_label(queue, failed=queue.queue_id in failed)}
        for queue in page.rows
    ]
    context = {
        "section": "step-queues",
        "rows": rows,
        "query": query,
        "form": form,
        "states": labels.STATE_LABELS,
    }
    return render(request, "step_queues/queue_list.html", context | page_links(page, query))


def filter_queues(queues: QuerySet[StepQueue], values: dict[str, Any]) -> QuerySet[StepQueue]:
    if values["undo_failed"]:
        queues = queues.filter(queue_id__in=steps_with_failed_rollback().values("queue_id"))
    lookups = {"state": "state__in", "name": "name__icontains", "queue_library": "queue_library"}
    return narrow(queues, values, lookups)


def steps_with_failed_rollback() -> QuerySet[Step]:
    """The steps whose rollback failed, by the partial index `steps_undo_failed`."""
    return Step.objects.filter(state__endswith=append_state("", JobState.FAILED))


def queues_with_failed_rollback(queues: Collection[int]) -> set[int]:
    return set(steps_with_failed_rollback().filter(queue__in=queues).values_list("queue_id", flat=True))
