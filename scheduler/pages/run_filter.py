"""The filter of the list of runs, as its form and its address have it."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from jobs.display import FAILURE_NAMES, TRIGGER_NAMES
from jobs.pages.selection import filter_query
from jobs.states import FailureType, Trigger
from scheduler.runs.filters import RunFilter, RunState, Sort

CUSTOM = "custom"
RANGES = {"1h": timedelta(hours=1), "24h": timedelta(days=1), "7d": timedelta(days=7)}
RANGE_NAMES = [("1h", _("Last hour")), ("24h", _("Last 24 hours")), ("7d", _("Last 7 days"))]
LONGEST = 200
FAILURES = [(str(kind), FAILURE_NAMES[kind]) for kind in FailureType]
TRIGGERS = [(str(trigger), TRIGGER_NAMES[trigger]) for trigger in Trigger]


class RunFilterForm(forms.Form):
    q = forms.CharField(label=_("Search"), max_length=LONGEST, required=False)
    state = forms.MultipleChoiceField(
        label=_("State"), choices=[(state.value, state.value) for state in RunState], required=False
    )
    failure = forms.MultipleChoiceField(
        label=_("Failure reason"),
        choices=FAILURES,
        required=False,
    )
    trigger = forms.ChoiceField(label=_("Trigger"), choices=TRIGGERS, required=False)
    task = forms.CharField(label=_("Task"), max_length=LONGEST, required=False)
    role = forms.CharField(label=_("Role"), max_length=64, required=False)
    worker = forms.CharField(label=_("Worker"), max_length=LONGEST, required=False)
    office = forms.UUIDField(label=_("Office"), required=False)
    batch = forms.UUIDField(label=_("Batch"), required=False)
    schedule = forms.UUIDField(label=_("Schedule"), required=False)
    range = forms.ChoiceField(
        label=_("Created"),
        choices=[*RANGE_NAMES, (CUSTOM, _("Custom"))],
        required=False,
    )
    ended = forms.ChoiceField(label=_("Ended"), choices=RANGE_NAMES, required=False)
    since = forms.DateTimeField(label=_("From"), required=False)
    until = forms.DateTimeField(label=_("To"), required=False)
    sort = forms.ChoiceField(
        label=_("Order"),
        choices=[
            (Sort.NEWEST.value, _("Newest first")),
            (Sort.OLDEST.value, _("Oldest first")),
            (Sort.LONGEST.value, _("Longest first")),
        ],
        required=False,
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("since") and data.get("until") and data["since"] >= data["until"]:
            raise forms.ValidationError(_("The end of the time range must be after its beginning."))
        return data

    def query(self) -> QueryDict:
        """The fields that are not empty, as an address has them."""
        return filter_query(self.data if isinstance(self.data, QueryDict) else QueryDict(), self.fields)

    def values(self, now: datetime) -> RunFilter | None:
        """The filter; None if a field is wrong."""
        if not self.is_valid():
            return None
        data = self.cleaned_data
        since, until = data["since"], data["until"]
        if data["range"] in RANGES:
            since, until = now - RANGES[data["range"]], None
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
