"""What people did in an office: a log for its owners, newest first. A user's own is part of the account."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from jobs.ids import parse_number
from jobs.models import Activity
from jobs.pages.permissions import office_access, office_context
from jobs.states import MemberRole

PAGE = 50


def rows_of(activity: Iterable[Activity]) -> list[dict[str, Any]]:
    return [
        {
            "act": row,
            "details": [(name, _text(value)) for name, value in row.details.items()],
        }
        for row in activity
    ]


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@require_safe
def activity(request: HttpRequest, office_id: UUID) -> HttpResponse:
    access = office_access(request, office_id, MemberRole.OWNER)
    rows = access.office.activity.order_by("-id")
    if before := parse_number(request.GET.get("before")):
        rows = rows.filter(pk__lt=before)
    listed = list(rows[: PAGE + 1])
    context = {
        **office_context(access, "activity"),
        "rows": rows_of(listed[:PAGE]),
        "older": listed[PAGE - 1].pk if len(listed) > PAGE else None,
    }
    return render(request, "jobs/activity.html", context)
