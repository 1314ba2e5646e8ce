"""The step queues that the user may see."""

from collections.abc import Collection

from django import forms
from django.db.models import Max, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from jobs.ids import parse_number
from jobs.pages.live_list import Place
from jobs.pages.permissions import current_user
from jobs.selection import narrow
from scheduler.pages.lists import FilterForm, read_list, text_field
from scheduler.steps.access import queues_of
from scheduler.steps.models import Step, StepQueue
from scheduler.steps.pages import labels
from scheduler.steps.states import JobState, QueueState, append_state

# Up to 256 KiB each, and not shown in a list.
LARGE_FIELDS = ("context", "queue_return")


class QueueFilterForm(FilterForm):
    state = forms.MultipleChoiceField(choices=QueueState.choices, required=False)
    undo_failed = forms.BooleanField(label=_("Rollback failed"), required=False)
    name = text_field(_("Name"))
    queue_library = text_field(_("Library"))

    def filter(self, rows: QuerySet[StepQueue]) -> QuerySet[StepQueue]:
        if self.cleaned_data["undo_failed"]:
            rows = rows.filter(queue_id__in=steps_with_failed_rollback().values("queue_id"))
        lookups = {"state": "state__in", "name": "name__icontains", "queue_library": "queue_library"}
        return narrow(rows, self.cleaned_data, lookups)


@require_safe
def queues(request: HttpRequest, *, template: str = "queue_list.html") -> HttpResponse:
    """The page, or with another template the part of it that is refreshed."""
    visible = queues_of(current_user(request)).select_related("office", "owner").defer(*LARGE_FIELDS)
    listed, context = read_list(
        request,
        QueueFilterForm(request.GET),
        visible,
        address=reverse("steps:queues"),
        order=("-queue_id",),
        place=Place.read(request.GET, "queue_id", parse_number),
        newest=newest_queue_id,
    )
    failed = queues_with_failed_rollback([queue.queue_id for queue in listed])
    rows = [
        {"queue": queue, "label": labels.queue_label(queue, failed=queue.queue_id in failed)}
        for queue in listed
    ]
    context |= {"section": "step-queues", "rows": rows, "states": labels.STATE_LABELS}
    return render(request, f"step_queues/{template}", context)


def newest_queue_id() -> int:
    return StepQueue.objects.aggregate(newest=Max("queue_id"))["newest"] or 0


def steps_with_failed_rollback() -> QuerySet[Step]:
    """The steps whose rollback failed, by the partial index `steps_undo_failed`."""
    return Step.objects.filter(state__endswith=append_state("", JobState.FAILED))


def queues_with_failed_rollback(queues: Collection[int]) -> set[int]:
    return set(steps_with_failed_rollback().filter(queue__in=queues).values_list("queue_id", flat=True))
