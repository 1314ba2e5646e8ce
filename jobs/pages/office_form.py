"""The forms of an office: its name and addresses, and its limits, timeouts and retries.

The limits are saved as a merge patch of what was changed in the form, so that two owners at the same time
do not undo each other's changes. Times are in seconds here and in milliseconds in the config.
"""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from dure.failures import RETRYABLE
from dure.roles import LONGEST, is_role
from jobs import display
from jobs.errors import ErrorText
from jobs.field_types import LONGEST_DELAY_MS, MOST_RETRIES
from jobs.models import Office
from jobs.office_config import LONGEST_DEFAULT_MS, MOST_JOBS_AT_ONCE, MOST_ROLES, config_of
from jobs.pages.edit_form import EditForm
from jobs.pages.fields import AddressesField, SecondsField
from jobs.states import Backoff

EMPTY_ROWS = 2


class OfficeForm(EditForm):
    name = forms.CharField(label=_("Name"), max_length=200)
    notify_emails = AddressesField(
        label=_("Notification addresses"),
        required=False,
        help_text=_("One per line. They receive an email when a job fails for good."),
    )


class LimitsForm(EditForm):
    """Only fields that differ from those that the page showed are changed."""

    field_names = {
        "maxConcurrentJobs": "max_concurrent_jobs",
        "defaultTimeout": "default_timeout",
        "maxRetries": "max_retries",
        "retryBackoff": "retry_backoff",
        "retryBaseDelay": "retry_base_delay",
        "retryableFailures": "retryable_failures",
    }

    max_concurrent_jobs = forms.IntegerField(
        label=_("Concurrent jobs"), min_value=1, max_value=MOST_JOBS_AT_ONCE, show_hidden_initial=True
    )
    default_timeout = SecondsField(
        label=_("Default time limit (s)"), low_ms=1, high_ms=LONGEST_DEFAULT_MS, show_hidden_initial=True
    )
    max_retries = forms.IntegerField(
        label=_("Retries"),
        min_value=0,
        max_value=MOST_RETRIES,
        show_hidden_initial=True,
        help_text=_("For jobs whose Task and submission set none."),
    )
    retry_backoff = forms.ChoiceField(label=_("Backoff"), choices=Backoff.choices, show_hidden_initial=True)
    retry_base_delay = SecondsField(
        label=_("First delay (s)"), low_ms=0, high_ms=LONGEST_DELAY_MS, show_hidden_initial=True
    )
    retryable_failures = forms.MultipleChoiceField(
        label=_("Failures that are retried"),
        required=False,
        choices=[(failure.value, display.FAILURE_NAMES[failure]) for failure in RETRYABLE],
        widget=forms.CheckboxSelectMultiple,
        show_hidden_initial=True,
    )

    def __init__(self, office: Office, data: Any = None) -> None:
        config = config_of(office)
        super().__init__(data, initial={name: config[key] for key, name in self.field_names.items()})
        self.rows = role_rows(config, data)

    def is_valid(self) -> bool:
        # All of them, so that all errors are shown at once.
        valid = [super().is_valid(), *(row.is_valid() for row in self.rows)]
        seen = set[str]()
        for row in self.rows:
            role = row.cleaned_data.get("role")
            if role and role in seen:
                row.add_error("role", gettext("This role has a row already."))
                valid.append(False)
            seen.add(role or "")
        return all(valid)

    def patch(self) -> dict[str, Any]:
        keys = {name: key for key, name in self.field_names.items()}
        patch = {keys[name]: self.cleaned_data[name] for name in self.changed_data}
        for key, column in (("maxConcurrentByRole", "limit"), ("defaultTimeoutByRole", "timeout")):
            if changes := self._changes_by_role(column):
                patch[key] = changes
        return patch

    def _changes_by_role(self, column: str) -> dict[str, int | None]:
        rows = [row.cleaned_data for row in self.rows]
        changes: dict[str, int | None] = {
            data["before"]: None for data in rows if data["before"] not in ("", data["role"])
        }
        for row, data in zip(self.rows, rows, strict=True):
            if data["role"] and (data["role"] != data["before"] or column in row.changed_data):
                changes[data["role"]] = data[column]
        return changes


class RoleForm(forms.Form):
    """The limits of one role. Without a role, or without either limit, it has no entry."""

    before = forms.CharField(required=False, max_length=LONGEST, widget=forms.HiddenInput)
    role = forms.CharField(
        label=_("Role"),
        max_length=LONGEST,
        required=False,
        widget=forms.TextInput({"autocapitalize": "none", "spellcheck": "false", "size": "16"}),
    )
    limit = forms.IntegerField(
        label=_("Concurrent jobs"),
        required=False,
        min_value=0,
        max_value=MOST_JOBS_AT_ONCE,
        show_hidden_initial=True,
    )
    timeout = SecondsField(
        label=_("Default time limit (s)"),
        required=False,
        low_ms=1,
        high_ms=LONGEST_DEFAULT_MS,
        show_hidden_initial=True,
    )

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, auto_id=False, **options)
        for field in self.fields.values():
            if field.label:
                field.widget.attrs["aria-label"] = field.label

    def clean_role(self) -> str:
        role = str(self.cleaned_data["role"])
        if role and not is_role(role):
            raise forms.ValidationError(str(ErrorText("role_name")))
        return role

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        has_limits = any(data.get(name) is not None for name in ("limit", "timeout"))
        if has_limits and data.get("role") == "" and not data.get("before"):
            self.add_error("role", str(ErrorText("required")))
        return data


def role_rows(config: Mapping[str, Any], data: Any) -> list[RoleForm]:
    """A row for each role with a limit, and empty ones for further roles; or the rows that were sent."""
    if data is not None:
        sent = [number for number in range(2 * MOST_ROLES + EMPTY_ROWS) if f"{number}-role" in data]
        return [RoleForm(data, prefix=str(number)) for number in sent]
    limits, timeouts = config["maxConcurrentByRole"], config["defaultTimeoutByRole"]
    rows: list[dict[str, Any]] = [
        {"before": role, "role": role, "limit": limits.get(role), "timeout": timeouts.get(role)}
        for role in sorted({*limits, *timeouts})
    ]
    return [
        RoleForm(prefix=str(number), initial=initial)
        for number, initial in enumerate([*rows, *({} for _ in range(EMPTY_ROWS))])
    ]
