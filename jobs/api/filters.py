"""What the lists of jobs can be narrowed by and ordered by."""

from typing import Any

from django import forms
from django.conf import settings
from django.db.models import F, QuerySet
from django_filters import rest_framework as filters

from jobs.models import Job
from jobs.selection import in_states
from jobs.states import JOB_ENDED, JobStatus

# By name of the parameter: each ends in `seq`, so that pages never overlap.
ORDERINGS: dict[str, tuple[Any, ...]] = {
    "-created_at": ("-seq",),
    "created_at": ("seq",),
    "-completed_at": (F("completed_at").desc(nulls_last=True), "-seq"),
    "completed_at": (F("completed_at").asc(nulls_last=True), "seq"),
    "priority": ("-urgent", "priority", "seq"),
    "-priority": ("urgent", "-priority", "-seq"),
}
USUAL_ORDER = "-created_at"


class Several(forms.SelectMultiple):
    """`?status=failed&status=done` and `?status=failed,done` mean the same."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:
        given: list[str] = super().value_from_datadict(data, files, name) or []
        return [one for text in given for one in text.split(",") if one]


class JobFilter(filters.FilterSet):  # type: ignore[misc]
    status = filters.MultipleChoiceFilter(
        choices=JobStatus.choices,
        widget=Several,
        method="by_status",
        help_text="One of them or several, separated by commas or given repeatedly.",
    )
    role = filters.ChoiceFilter(
        choices=[(role, role) for role in settings.DURE_ROLES], help_text="Only those of this role."
    )
    batch = filters.UUIDFilter(field_name="batch_id", help_text="Only those of this batch.")
    task_id = filters.CharFilter(help_text="Only those that run this Task.")
    ordering = filters.ChoiceFilter(
        choices=[(name, name) for name in ORDERINGS],
        method="by_order",
        help_text=f"Unless given, newest first: {USUAL_ORDER}. `priority` is the order in which jobs start.",
    )

    class Meta:
        model = Job
        fields: list[str] = []

    def by_status(self, jobs: QuerySet[Job], name: str, statuses: list[str]) -> QuerySet[Job]:
        return jobs.filter(in_states(statuses)) if statuses else jobs

    def by_order(self, jobs: QuerySet[Job], name: str, ordering: str) -> QuerySet[Job]:
        return jobs  # how to order them well depends on their states: see filter_queryset

    def filter_queryset(self, jobs: QuerySet[Job]) -> QuerySet[Job]:
        given = self.form.cleaned_data
        found: QuerySet[Job] = super().filter_queryset(jobs)
        return found.order_by(*order_of(given["ordering"] or USUAL_ORDER, set(given["status"])))


def order_of(ordering: str, statuses: set[str]) -> tuple[Any, ...]:
    """The order by name, in the form in which PostgreSQL finds these states quickest."""
    down = ordering.startswith("-")
    if statuses and statuses.isdisjoint(JOB_ENDED) and ordering.endswith("created_at"):
        # Few among very many: an expression, so that no index in this order is walked to find them.
        place = F("seq") + 0
        return (place.desc() if down else place.asc(),)
    if statuses and statuses <= set(JOB_ENDED) and ordering.endswith("completed_at"):
        # Nobody among them is without an end, so the index jobs_ended has this order.
        return ("-completed_at", "-seq") if down else ("completed_at", "seq")
    return ORDERINGS[ordering]
