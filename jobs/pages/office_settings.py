"""An office: creating it, its settings, pause and resume."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from jobs import office_config, offices
from jobs.access import Access
from jobs.models import Office
from jobs.pages.office_form import LimitsForm, OfficeForm
from jobs.pages.permissions import current_user, office_access, office_context
from jobs.states import MemberRole


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    user = current_user(request)
    form = OfficeForm(request.POST if request.method == "POST" else None, initial={})
    if form.is_valid():
        office = offices.create(user, **form.cleaned_data)
        messages.success(request, _("Office created. You are its owner."))
        return redirect("pages:office", office.id)
    context = {"section": "offices", "form": form}
    return render(request, "jobs/office_new.html", context, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def office(request: HttpRequest, office_id: UUID) -> HttpResponse:
    """The settings; a POST changes the name and the addresses."""
    posted = request.method == "POST"
    access = office_access(request, office_id, MemberRole.OWNER if posted else MemberRole.VIEWER)
    form = _office_form(access.office, request.POST if posted else None)
    if form.is_valid():
        offices.change(access.office, form.cleaned_data)
        messages.success(request, _("Saved."))
        return redirect("pages:office", office_id)
    return _render(request, access, form=form)


@require_POST
def limits(request: HttpRequest, office_id: UUID) -> HttpResponse:
    access = office_access(request, office_id, MemberRole.OWNER)
    form = LimitsForm(access.office, request.POST)
    if form.save(lambda: office_config.change(office_id, form.patch())) is None:
        return _render(request, access, limits=form)
    messages.success(request, _("Saved."))
    return redirect("pages:office", office_id)


@require_POST
def pause(request: HttpRequest, office_id: UUID, *, paused: bool) -> HttpResponse:
    """Pause the office, or resume it."""
    office_access(request, office_id, MemberRole.OWNER)
    office_config.change(office_id, {"paused": paused})
    messages.success(request, _("Office paused. Running jobs continue.") if paused else _("Office resumed."))
    return redirect("pages:office", office_id)


def _office_form(office: Office, data: Any = None) -> OfficeForm:
    return OfficeForm(data, initial={"name": office.name, "notify_emails": office.notify_emails})


def _render(request: HttpRequest, access: Access, **forms: Any) -> HttpResponse:
    context = {
        **office_context(access, "settings"),
        "form": _office_form(access.office),
        "limits": LimitsForm(access.office),
        **forms,
    }
    invalid = any(form.is_bound for form in forms.values())
    return render(request, "jobs/office.html", context, status=400 if invalid else 200)
