"""The step queues that the user may see."""

from collections.abc import Collection
from typing import Any

from django import forms
from django.db.models import Max, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from jobs.ids import parse_number
from jobs.keyset import page_links, page_of
from jobs.pages.live_list import Place
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
def queues(request: HttpRequest, *, template: str = "queue_list.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    form = QueueFilterForm(request.GET)
    valid = form.is_valid()
    query = filter_query(request.GET, form.fields)
    place = Place.read(request.GET, "queue_id", parse_number)
    visible = queues_of(current_user(request)).select_related("office", "owner").defer(*LARGE_FIELDS)
    matching = filter_queues(visible, form.cleaned_data) if valid else visible.none()
    page = page_of(
        place.exclude_newer(matching), order=("-queue_id",), after=place.after, before=place.before
    )
    failed = queues_with_failed_rollback([queue.queue_id for queue in page.rows])
    rows = [
        {"queue": queue, "label": labels.queue_label(queue, failed=queue.queue_id in failed)}
        for queue in page.rows
    ]
    newest = StepQueue.objects.aggregate(newest=Max("queue_id"))["newest"] or 0
    context = {
        "section": "step-queues",
        "now": timezone.now(),
        "rows": rows,
        "query": query,
        "form": form,
        "states": labels.STATE_LABELS,
        **page_links(page, query),
        **place.context(reverse("steps:queues"), query, place.count_new(matching), newest),
    }
    return render(request, f"step_queues/{template}", context)


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
