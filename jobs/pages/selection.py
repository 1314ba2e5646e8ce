"""Which jobs of an office a page is about: the filter in its address, or the jobs that were selected."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobs import search
from jobs.api.filters import JobFilter
from jobs.ids import parse_uuid
from jobs.models import Batch, Job, Office
from jobs.pages.time_range import TimeRangeForm

FILTERS = ("status", "role", "batch", "task_id", "q", *TimeRangeForm.base_fields)


class SearchForm(TimeRangeForm):
    q = forms.CharField(label=gettext_lazy("Search"), max_length=search.LONGEST_TEXT, required=False)


@dataclass(frozen=True)
class Selection:
    """`query` is the filter as an address has it, without its empty fields."""

    jobs: QuerySet[Job]
    query: QueryDict
    statuses: Collection[str]
    problems: list[str]
    # Older jobs were not searched for a text.
    searched_since: datetime | None = None


def filter_query(data: QueryDict, names: Iterable[str]) -> QueryDict:
    """The fields of a list's filter that are not empty."""
    query = QueryDict(mutable=True)
    for name in names:
        if values := [value for value in data.getlist(name) if value]:
            query.setlist(name, values)
    return query


def filtered_jobs(office: Office, data: QueryDict) -> Selection:
    query = filter_query(data, FILTERS)
    jobs = Job.objects.filter(office=office)
    form = SearchForm(query)
    job_filter = JobFilter(query, queryset=jobs)
    if not (form.is_valid() and job_filter.is_valid()):
        errors = {**job_filter.form.errors, **form.errors}
        problems = [f"{name}: {' '.join(texts)}".removeprefix("__all__: ") for name, texts in errors.items()]
        return Selection(jobs.none(), query, (), problems)
    since, until = form.bounds(timezone.now())
    jobs, searched_since = search.created_between(job_filter.qs.order_by(), since, until), None
    if text := form.cleaned_data["q"].strip():
        jobs, searched_since = search.with_text(office, jobs, text)
    return Selection(jobs, query, job_filter.form.cleaned_data["status"], [], searched_since)


def describe(office: Office, query: QueryDict) -> str:
    """The filter in words, for a confirmation."""
    labels = {"status": _("State"), "role": _("Role"), "batch": _("Batch"), "task_id": _("Task")}
    labels |= {name: str(field.label) for name, field in SearchForm.base_fields.items() if field.label}
    texts = {name: ", ".join(values) for name, values in query.lists()}
    batch_id = parse_uuid(query.get("batch"))
    if batch_id and (batch := Batch.objects.filter(office=office, pk=batch_id).first()):
        texts["batch"] = str(batch)
    return " · ".join(f"{labels[name]}: {text}" for name, text in texts.items())


def selected_jobs(office: Office, ids: Iterable[str]) -> QuerySet[Job]:
    return Job.objects.filter(office=office, pk__in=[job for job in map(parse_uuid, ids) if job])


def newest_seq(office: Office) -> int:
    """The number of the office's newest job: later jobs were not on the page."""
    return Job.objects.filter(office=office).order_by("-seq").values_list("seq", flat=True).first() or 0
