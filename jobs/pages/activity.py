"""What people did in an office: a log for its owners, newest first. A user's own is part of the account."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from jobs.ids import parse_number
from jobs.keyset import page_of
from jobs.pages.permissions import office_access, office_context
from jobs.states import MemberRole


@require_safe
def activity(request: HttpRequest, office_id: UUID) -> HttpResponse:
    access = office_access(request, office_id, MemberRole.OWNER)
    before = parse_number(request.GET.get("before"))
    page = page_of(access.office.activity.all(), order=("-id",), after=before)
    context = {**office_context(access, "activity"), "rows": page.rows, "older": page.older}
    return render(request, "jobs/activity.html", context)
