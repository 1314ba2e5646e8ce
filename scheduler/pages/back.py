"""Leads back to where something was pressed."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme


def back_to(request: HttpRequest, usual: str) -> HttpResponse:
    wanted = request.POST.get("back", "")
    ours = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None)
    return redirect(wanted if ours else usual)
