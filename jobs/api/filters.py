"""Filters and orderings of the lists of jobs."""

from collections.abc import Collection
from typing import Any

from django import forms
from django.db.models import F, QuerySet
from django_filters import rest_framework as filters

from jobs.models import Job
from jobs.selection import are_few, in_states
from jobs.states import JOB_ENDED, JobStatus

# Each ends in `seq`, so that pages never overlap.
ORDERINGS: dict[str, tuple[Any, ...]] = {
    "-created_at": ("-seq",),
    "created_at": ("seq",),
    "-completed_at": (F("completed_at").desc(nulls_last=True), "-seq"),
    "completed_at": (F("completed_at").asc(nulls_last=True), "seq"),
    "priority": ("-urgent", "priority", "seq"),
    "-priority": ("urgent", "-priority", "-seq"),
}
DEFAULT_ORDER = "-created_at"


class MultipleValues(forms.SelectMultiple):
    """`?status=failed&status=done` and `?status=failed,done` mean the same."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:
        texts: list[str] = super().value_from_datadict(data, files, name) or []
        return [value for text in texts for value in text.split(",") if value]


class JobFilter(filters.FilterSet):  # type: ignore[misc]
    status = filters.MultipleChoiceFilter(
        choices=JobStatus.choices,
        widget=MultipleValues,
        method="by_status",
        help_text="One state or several, separated by commas or as repeated parameters.",
    )
    role = filters.CharFilter(help_text="Only jobs of this role.")
    batch = filters.UUIDFilter(field_name="batch_id", help_text="Only jobs of this batch.")
    task_id = filters.CharFilter(help_text="Only jobs of this Task.")
    ordering = filters.ChoiceFilter(
        choices=[(name, name) for name in ORDERINGS],
        method="by_order",
        help_text=f"Default: {DEFAULT_ORDER}, newest first. `priority` is the order in which jobs start.",
    )

    class Meta:
        model = Job
        fields: list[str] = []

    def by_status(self, jobs: QuerySet[Job], name: str, statuses: list[str]) -> QuerySet[Job]:
        return jobs.filter(in_states(statuses)) if statuses else jobs

    def by_order(self, jobs: QuerySet[Job], name: str, ordering: str) -> QuerySet[Job]:
        return jobs  # the order also depends on the states: see filter_queryset

    def filter_queryset(self, jobs: QuerySet[Job]) -> QuerySet[Job]:
        data = self.form.cleaned_data
        matching: QuerySet[Job] = super().filter_queryset(jobs)
        return matching.order_by(*order_of(data["ordering"] or DEFAULT_ORDER, data["status"]))


def order_of(ordering: str, statuses: Collection[str]) -> tuple[Any, ...]:
    """The ordering, in the form that PostgreSQL executes fastest for these states."""
    down = ordering.startswith("-")
    if are_few(statuses) and ordering.endswith("created_at"):
        # An expression keeps PostgreSQL from scanning an index in this order.
        place = F("seq") + 0
        return (place.desc() if down else place.asc(),)
    if statuses and set(statuses) <= set(JOB_ENDED) and ordering.endswith("completed_at"):
        # All of them have ended, so the index jobs_ended has this order.
        return ("-completed_at", "-seq") if down else ("completed_at", "seq")
    return ORDERINGS[ordering]
