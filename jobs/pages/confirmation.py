"""The page on which a user confirms an action on many jobs, and its result."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from jobs import bulk
from jobs.pages.forms import ActionForm, CountForm
from jobs.pages.permissions import actor_of

# The scope of an action: all that match the filter, or else those that were selected.
MATCHING = "matching"


def confirm(
    request: HttpRequest,
    verb: str,
    preview: bulk.Preview,
    apply: Callable[[bulk.Action], bulk.Result],
    *,
    back: str,
    context: dict[str, Any],
) -> HttpResponse:
    """Show what an action would change; apply it once the user has confirmed it."""
    matching = request.POST.get("scope") == MATCHING
    data = request.POST if "sure" in request.POST else None
    form = ActionForm(data, verb=verb)
    many = matching and preview.changed > bulk.TYPED_ABOVE
    count = CountForm(data, count=preview.changed) if many else None
    if form.is_valid() and (count is None or count.is_valid()):
        result = apply(form.action(actor_of(request)))
        add_result_message(request, verb, result)
        return redirect(back)
    context = {
        **context,
        "back": back,
        "verb": verb,
        "matching": matching,
        "preview": preview,
        "form": form,
        "sure": count.with_current_count() if count and count.is_bound and not count.is_valid() else count,
    }
    return render(request, "jobs/confirm.html", context, status=400 if form.is_bound else 200)


def add_result_message(request: HttpRequest, verb: str, result: bulk.Result) -> None:
    text = {
        bulk.CANCEL: ngettext("%(count)s job cancelled.", "%(count)s jobs cancelled.", result.changed),
        bulk.RETRY: ngettext(
            "%(count)s job will run again.", "%(count)s jobs will run again.", result.changed
        ),
        bulk.REPRIORITISE: ngettext(
            "Priority changed for %(count)s job.", "Priority changed for %(count)s jobs.", result.changed
        ),
    }[verb] % {"count": f"{result.changed:,}"}
    if result.refused:
        text += " " + _("%(count)s skipped (changed in the meantime).") % {"count": f"{result.refused:,}"}
    messages.add_message(request, messages.SUCCESS if result.changed else messages.WARNING, text)


def hidden_fields(query: QueryDict) -> list[tuple[str, str]]:
    return [(name, value) for name, values in query.lists() for value in values]
