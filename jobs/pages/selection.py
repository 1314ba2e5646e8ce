"""Which jobs of an office a page is about: the filter in its address, or the boxes that were ticked."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet
from django.http import QueryDict

from jobs.api.filters import JobFilter
from jobs.models import Job, Office
from jobs.pages.filters import asked
from jobs.states import JOB_ENDED

FILTERS = ("status", "role", "batch", "task_id")


@dataclass(frozen=True)
class Choice:
    jobs: QuerySet[Job]
    # The filter as an address has it, without what is empty.
    query: QueryDict
    statuses: Collection[str]
    problems: list[str]

    @property
    def few(self) -> bool:
        """Only live jobs: few among very many."""
        return bool(self.statuses) and set(self.statuses).isdisjoint(JOB_ENDED)


def chosen(office: Office, given: QueryDict) -> Choice:
    query = asked(given, FILTERS)
    of_office = Job.objects.filter(office=office)
    narrow = JobFilter(query, queryset=of_office)
    if not narrow.is_valid():
        problems = [f"{name}: {' '.join(why)}" for name, why in narrow.form.errors.items()]
        return Choice(of_office.none(), query, (), problems)
    return Choice(narrow.qs.order_by(), query, narrow.form.cleaned_data["status"], [])


def newest(office: Office) -> int:
    """The number of the office's newest job: what comes later was not there to be looked at."""
    return Job.objects.filter(office=office).order_by("-seq").values_list("seq", flat=True).first() or 0


def ticked(office: Office, ids: Collection[str]) -> QuerySet[Job]:
    return Job.objects.filter(office=office, pk__in=[one for one in map(_uuid, ids) if one])


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
