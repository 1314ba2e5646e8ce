"""The step queues that the reader may see."""

from collections.abc import Collection
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from jobs.keyset import links, page_of, place
from jobs.pages.filters import asked
from jobs.pages.permissions import current_user
from jobs.selection import narrowed
from scheduler.steps.access import queues_of
from scheduler.steps.models import Step, StepQueue
from scheduler.steps.pages import labels
from scheduler.steps.states import JobState, QueueState, appended

# What can be as large as 256 KiB, and is not shown in a list.
LARGE = ("context", "queue_return")


class QueueFilterForm(forms.Form):
    state = forms.MultipleChoiceField(choices=QueueState.choices, required=False)
    undo_failed = forms.BooleanField(label=_("Something could not be undone"), required=False)
    name = forms.CharField(label=_("Name"), required=False, max_length=200)
    queue_library = forms.CharField(label=_("Library"), required=False, max_length=100)


@require_safe
@login_required
def queues(request: HttpRequest) -> HttpResponse:
    form = QueueFilterForm(request.GET)
    valid = form.is_valid()
    query = asked(request.GET, form.fields)
    mine = queues_of(current_user(request)).select_related("office", "owner").defer(*LARGE)
    found = chosen(mine, form.cleaned_data) if valid else mine.none()
    page = page_of(
        found,
        by="queue_id",
        after=place(request.GET.get("after")),
        before=place(request.GET.get("before")),
    )
    failed = undo_failed_in([queue.queue_id for queue in page.rows])
    rows = [
        {"queue": queue, "label": labels.standing(queue, undo_failed=queue.queue_id in failed)}
        for queue in page.rows
    ]
    context = {"section": "step-queues", "rows": rows, "query": query, "form": form, "states": labels.STATES}
    return render(request, "step_queues/list.html", context | links(page, query))


def chosen(found: QuerySet[StepQueue], wanted: dict[str, Any]) -> QuerySet[StepQueue]:
    if wanted["undo_failed"]:
        found = found.filter(queue_id__in=with_undo_failed().values("queue_id"))
    lookups = {"state": "state__in", "name": "name__icontains", "queue_library": "queue_library"}
    return narrowed(found, wanted, lookups)


def with_undo_failed() -> QuerySet[Step]:
    """From the partial index of those jobs."""
    return Step.objects.filter(state__endswith=appended("", JobState.FAILED))


def undo_failed_in(queues: Collection[int]) -> set[int]:
    return set(with_undo_failed().filter(queue__in=queues).values_list("queue_id", flat=True))
