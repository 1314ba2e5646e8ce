"""Actions of the admin: each first shows which rows it would change and skip, then calls the API's verb.

The admin's log keeps who did it and why.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from jobs.display import Text
from jobs.field_types import LONGEST_REASON

# How many rows of a selection are read, how many of them are named, and how many reasons are shown.
MOST = 1_000
NAMED = 20
REASONS_SHOWN = 10


@dataclass(frozen=True)
class Operator:
    """The user of an action, and the reason."""

    user: User
    reason: str

    @property
    def actor(self) -> str:
        return str(self.user.get_username())


@dataclass(frozen=True)
class RowAction:
    """One verb for selected rows. `refusal` says why a row is skipped; empty: it is not."""

    name: str
    label: Text
    # "Cancel 3 runs", by their number.
    question: Callable[[int], str]
    do: Callable[[Any, Operator], object]
    refusal: Callable[[Any], Text] = lambda row: ""
    note: Text = ""


@dataclass(frozen=True)
class Preview:
    """The effect that an action would have. `beyond` is a text about rows beyond the action's limit."""

    named: Sequence[Any]
    count: int
    # The numbers of skipped rows, by reason.
    skipped: dict[str, str]
    beyond: str = ""

    @property
    def unnamed(self) -> int:
        return max(0, self.count - len(self.named))


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Reason (optional, kept in the admin log)"),
        max_length=LONGEST_REASON,
        required=False,
    )


def select(rows: QuerySet[Any], action: RowAction) -> tuple[list[Any], Preview]:
    """The rows to which the action applies, and its preview."""
    selected = list(rows[: MOST + 1])
    fitting, skipped = [], Counter[str]()
    for row in selected[:MOST]:
        if reason := action.refusal(row):
            skipped[str(reason)] += 1
        else:
            fitting.append(row)
    beyond = _("Only the first %(count)s rows are considered; filter the list to reach the others.") % {
        "count": f"{MOST:,}"
    }
    reasons = {reason: f"{count:,}" for reason, count in skipped.most_common(REASONS_SHOWN)}
    return fitting, Preview(fitting[:NAMED], len(fitting), reasons, beyond if len(selected) > MOST else "")


def add_result_message(request: HttpRequest, done: int, refusals: "Counter[str] | None" = None) -> None:
    text = ngettext("Applied to %(count)s.", "Applied to %(count)s.", done) % {"count": done}
    messages.add_message(request, messages.SUCCESS if done else messages.WARNING, text)
    for reason, count in (refusals or Counter[str]()).most_common(REASONS_SHOWN):
        messages.warning(request, _("%(count)s skipped: %(why)s") % {"count": count, "why": reason})


def back_address(request: HttpRequest) -> str:
    """The page with the button that was pressed, if that is one of our own."""
    address = request.POST.get("back", "")
    ours = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return address if ours else ""


def go_back(request: HttpRequest) -> HttpResponse | None:
    """Redirect to the page of the button; None to redirect to the list."""
    address = back_address(request)
    return redirect(address) if address else None
