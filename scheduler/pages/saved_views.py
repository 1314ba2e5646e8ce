"""Keeps and deletes the saved views of the list of runs."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from jobs.errors import Refused
from jobs.pages.permissions import current_user
from jobs.pages.undo import offer_undo
from scheduler.clock import database_now
from scheduler.pages.run_filter import RunFilterForm
from scheduler.pages.run_list import list_address
from scheduler.runs import views

LONGEST_QUERY = 2_000


class ViewForm(forms.Form):
    name = forms.CharField(max_length=100)


@require_POST
def save(request: HttpRequest) -> HttpResponse:
    form, query = ViewForm(request.POST), RunFilterForm(request.POST).query()
    if not form.is_valid() or len(query.urlencode()) > LONGEST_QUERY:
        messages.error(request, _("Enter a name of up to 100 characters."))
        return redirect(list_address(query))
    try:
        view = views.save(current_user(request), form.cleaned_data["name"], query.urlencode())
    except Refused as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("View saved: %(name)s") % {"name": view.name})
    return redirect(list_address(query))


@require_POST
def delete(request: HttpRequest, view_id: UUID) -> HttpResponse:
    deletion = views.delete(current_user(request), view_id, now=database_now())
    if deletion is None:
        raise Http404
    offer_undo(request, _("View deleted."), deletion)
    return redirect("scheduler:runs")
