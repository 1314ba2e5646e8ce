"""The filter of the list of runs, as its form and its address have it."""

from datetime import datetime

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from dure.failures import FailureType
from jobs.display import FAILURE_NAMES
from jobs.pages.selection import filter_query
from jobs.pages.time_range import RANGE_NAMES, RANGES, TimeRangeForm
from jobs.search import LONGEST_TEXT
from jobs.states import Trigger
from scheduler.runs.filters import RunFilter, RunState, Sort

FAILURES = [(str(kind), FAILURE_NAMES[kind]) for kind in FailureType]


class RunFilterForm(TimeRangeForm):
    q = forms.CharField(label=_("Search"), max_length=LONGEST_TEXT, required=False)
    state = forms.MultipleChoiceField(
        label=_("State"), choices=[(state.value, state.value) for state in RunState], required=False
    )
    failure = forms.MultipleChoiceField(
        label=_("Failure reason"),
        choices=FAILURES,
        required=False,
    )
    trigger = forms.ChoiceField(label=_("Trigger"), choices=Trigger.choices, required=False)
    task = forms.CharField(label=_("Task"), max_length=LONGEST_TEXT, required=False)
    role = forms.CharField(label=_("Role"), max_length=64, required=False)
    worker = forms.CharField(label=_("Worker"), max_length=LONGEST_TEXT, required=False)
    office = forms.UUIDField(label=_("Office"), required=False)
    batch = forms.UUIDField(label=_("Batch"), required=False)
    schedule = forms.UUIDField(label=_("Schedule"), required=False)
    ended = forms.ChoiceField(label=_("Ended"), choices=RANGE_NAMES, required=False)
    sort = forms.ChoiceField(
        label=_("Order"),
        choices=[
            (Sort.NEWEST.value, _("Newest first")),
            (Sort.OLDEST.value, _("Oldest first")),
            (Sort.LONGEST.value, _("Longest first")),
        ],
        required=False,
    )

    def query(self) -> QueryDict:
        """The fields that are not empty, as an address has them."""
        return filter_query(self.data if isinstance(self.data, QueryDict) else QueryDict(), self.fields)

    def values(self, now: datetime) -> RunFilter | None:
        """The filter; None if a field is wrong."""
        if not self.is_valid():
            return None
        data = self.cleaned_data
        since, until = self.bounds(now)
        return RunFilter(
            q=data["q"].strip(),
            states=data["state"],
            failure_types=data["failure"],
            trigger=data["trigger"],
            task_id=data["task"].strip(),
            role=data["role"].strip(),
            worker=data["worker"].strip(),
            office=data["office"],
            batch=data["batch"],
            schedule=data["schedule"],
            since=since,
            until=until,
            ended_since=now - RANGES[data["ended"]] if data["ended"] else None,
            sort=Sort(data["sort"] or Sort.NEWEST),
        )
