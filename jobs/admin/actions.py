"""Actions of the admin. Each asks first and shows what it would skip, then calls the verb of the API for each
row, and leaves in the admin's log who did it and why.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from jobs.admin.base import Linked
from jobs.display import Text
from jobs.errors import Refused
from jobs.pages.permissions import current_user
from jobs.pages.refusals import told

MOST = 1_000
NAMED = 20
REASONS_SHOWN = 10


@dataclass(frozen=True)
class By:
    """Who does it, and why."""

    user: User
    reason: str

    @property
    def actor(self) -> str:
        return str(self.user.get_username())


@dataclass(frozen=True)
class Act:
    """One verb for rows that were chosen. `refusal` says why a row is skipped; it is empty where none is."""

    name: str
    label: Text
    # "Cancel 3 runs", by their number.
    question: Callable[[int], str]
    do: Callable[[Any, By], object]
    refusal: Callable[[Any], Text] = lambda row: ""
    note: Text = ""


@dataclass(frozen=True)
class Preview:
    """What an action would do. `beyond` says what happens to rows that are too many for one time."""

    named: Sequence[Any]
    count: int
    # How many are skipped, by the reason.
    skipped: dict[str, str]
    beyond: str = ""

    @property
    def unnamed(self) -> int:
        return max(0, self.count - len(self.named))


class ReasonForm(forms.Form):
    reason = forms.CharField(label=gettext_lazy("Reason (goes into the log)"), max_length=500, required=False)


class Acting(Linked):
    """Puts `acts` into the menu of the list, and as buttons on the page of each row they fit."""

    acts: ClassVar[tuple[Act, ...]] = ()

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        # Deleting row by row only, on a page that asks: Django's own for many calls no verb.
        found = {name: one for name, one in super().get_actions(request).items() if name != "delete_selected"}
        if self.actions is None or not self.has_operate_permission(request):
            return found
        return found | {act.name: (partial(_ask, act), act.name, act.label) for act in self.acts}

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = context.get("original")
        if row is not None and self.has_operate_permission(request):
            context["acts"] = self.acts_for(request, row)
            context["changelist"] = f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"
        return super().render_change_form(request, context, *args, **kwargs)

    def acts_for(self, request: HttpRequest, row: Any) -> list[Act]:
        return [act for act in self.acts if not act.refusal(row)]

    def ask(self, request: HttpRequest, rows: QuerySet[Any], act: Act) -> HttpResponseBase | None:
        form = ReasonForm(request.POST if "sure" in request.POST else None)
        fitting, preview = select(rows, act)
        if form.is_valid():
            by = By(current_user(request), form.cleaned_data["reason"])
            self.perform(request, act, fitting, by)
            return back_from(request)
        return self.confirmation(request, act.name, act.question(preview.count), preview, form, act.note)

    def perform(self, request: HttpRequest, act: Act, rows: Sequence[Any], by: By) -> None:
        done, refusals = list[Any](), Counter[str]()
        for row in rows:
            try:
                act.do(row, by)
                done.append(row)
            except Refused as refused:
                # It has changed since the page that asked.
                refusals[self.told(refused)] += 1
        if done:
            said = f"{act.name}: {by.reason}" if by.reason else act.name
            LogEntry.objects.log_actions(by.user.pk, done, CHANGE, said)
        tell(request, len(done), refusals)

    def told(self, refused: Refused) -> str:
        return told(refused.text)

    def confirmation(
        self, request: HttpRequest, name: str, question: str, found: Any, form: forms.Form, note: Text = ""
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": question,
            "act": name,
            "note": note,
            "form": form,
            "preview": found,
            "ids": request.POST.getlist(helpers.ACTION_CHECKBOX_NAME),
            "across": request.POST.get("select_across", "0"),
            "back": request.POST.get("back", ""),
            "back_to": back_address(request) or request.get_full_path(),
        }
        return TemplateResponse(request, "admin/dure/confirm.html", context)


def _ask(
    act: Act, model_admin: "admin.ModelAdmin[Any]", request: HttpRequest, rows: QuerySet[Any]
) -> HttpResponseBase | None:
    return cast(Acting, model_admin).ask(request, rows, act)


def select(rows: QuerySet[Any], act: Act) -> tuple[list[Any], Preview]:
    """The rows to which the action applies, and what to say before it does."""
    found = list(rows[: MOST + 1])
    fitting, skipped = [], Counter[str]()
    for row in found[:MOST]:
        if why := act.refusal(row):
            skipped[str(why)] += 1
        else:
            fitting.append(row)
    beyond = _("Only the first %(count)s of the list are looked at: narrow it for the others.") % {
        "count": f"{MOST:,}"
    }
    reasons = {why: f"{count:,}" for why, count in skipped.most_common(REASONS_SHOWN)}
    return fitting, Preview(fitting[:NAMED], len(fitting), reasons, beyond if len(found) > MOST else "")


def tell(request: HttpRequest, done: int, refusals: "Counter[str] | None" = None) -> None:
    words = ngettext("Done for %(count)s.", "Done for %(count)s.", done) % {"count": done}
    messages.add_message(request, messages.SUCCESS if done else messages.WARNING, words)
    for why, count in (refusals or Counter[str]()).most_common(REASONS_SHOWN):
        text = _("%(count)s skipped: %(why)s") % {"count": count, "why": why}
        messages.warning(request, text)


def back_address(request: HttpRequest) -> str:
    """Where the button was pressed, if that is one of our own pages."""
    address = request.POST.get("back", "")
    ours = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return address if ours else ""


def back_from(request: HttpRequest) -> HttpResponse | None:
    """None leads back to the list."""
    address = back_address(request)
    return redirect(address) if address else None
