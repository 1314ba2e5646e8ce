"""The pages of the user's replays: list with upload, detail with exports, delete."""

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from exports import disk, display, quota
from exports import replays as storage
from exports.access import exports_of, replays_of
from exports.models import Replay
from exports.pages.export_rows import export_rows
from exports.pages.exports import script_context, start_export
from exports.pages.filters import page_newest_first
from exports.pages.forms import OptionsForm
from exports.states import JobType
from jobs.errors import Refused
from jobs.keyset import page_links
from jobs.pages.permissions import current_user
from jobs.pages.verbs import call_verb

SIZE = 25
MAX_EXPORTS = 50
# By the last part of their URL, in the order of the buttons.
JOB_TYPES = {kind.lower(): JobType(kind) for kind in display.KIND_NAMES}


class UploadForm(forms.Form):
    file = forms.FileField(label=gettext_lazy("Replay"), allow_empty_file=True)
    title = forms.CharField(
        label=gettext_lazy("Title (optional)"), max_length=storage.MAX_TITLE, required=False
    )

    def store(self, owner: User) -> Replay | None:
        """Store the replay; None if it is refused, with the errors in the form."""
        data = self.cleaned_data
        try:
            return storage.store_upload(owner, data["file"], data["title"], timezone.now())
        except Refused as refused:
            self.add_error("file", _("This file cannot be used: %(reason)s") % {"reason": refused.text})
        except storage.NoSpace:
            self.add_error("file", _("The server has no space left for uploads; try again later."))
        return None


@require_http_methods(["GET", "HEAD", "POST"])
def replays(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _list(request, UploadForm())
    form = UploadForm(request.POST, request.FILES)
    replay = form.store(current_user(request)) if form.is_valid() else None
    if replay is None:
        return _list(request, form, status=400)
    messages.success(request, _("The replay was uploaded."))
    url = reverse("exports:replay", args=[replay.pk])
    # A script cannot see the target of a redirect, so it gets the URL as JSON.
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"next": url}, status=201)
    return redirect(url)


def _list(request: HttpRequest, form: UploadForm, status: int = 200) -> HttpResponse:
    page = page_newest_first(replays_of(current_user(request)), request.GET, SIZE)
    context = {
        "section": "exports",
        "tab": "replays",
        "page": page,
        "form": form,
        "max_title": storage.MAX_TITLE,
        "max_bytes": settings.DURE_MAX_UPLOAD_BYTES,
        "usage": quota.usage_of(current_user(request).pk),
        "disk": disk.fullest() if current_user(request).is_staff else None,
        **page_links(page, QueryDict(mutable=True)),
    }
    return render(request, "exports/replays.html", context, status=status)


@require_safe
def replay(request: HttpRequest, replay_id: int) -> HttpResponse:
    return _page(request, _own(request, replay_id), OptionsForm())


def _page(request: HttpRequest, row: Replay, form: OptionsForm, status: int = 200) -> HttpResponse:
    own = exports_of(current_user(request)).filter(replay=row).select_related("replay")
    jobs = list(own.order_by("-id")[:MAX_EXPORTS])
    context = {
        "section": "exports",
        "replay": row,
        "exports": export_rows(jobs, timezone.now()),
        "form": form,
        "kinds": [(address, display.KIND_NAMES[job_type]) for address, job_type in JOB_TYPES.items()],
        **script_context(),
    }
    return render(request, "exports/replay.html", context, status=status)


@require_POST
def start(request: HttpRequest, replay_id: int, kind: str) -> HttpResponse:
    row = _own(request, replay_id)
    if kind not in JOB_TYPES:
        raise Http404
    form = OptionsForm(request.POST, row, JOB_TYPES[kind])
    if not form.is_valid():
        return _page(request, row, form, status=400)
    return start_export(request, row, JOB_TYPES[kind], form.options())


@require_POST
def delete(request: HttpRequest, replay_id: int) -> HttpResponse:
    row = _own(request, replay_id)
    if "sure" not in request.POST:
        return render(request, "exports/confirm.html", _confirmation(row))
    if call_verb(request, lambda: storage.delete(row), _("The replay was deleted.")):
        return redirect("exports:replays")
    return redirect("exports:replay", replay_id=row.pk)


def _confirmation(row: Replay) -> dict[str, object]:
    count = row.exports.count()
    exports = ngettext(
        "Its %(count)s export and the file are deleted too.",
        "Its %(count)s exports and their files are deleted too.",
        count,
    ) % {"count": count}
    return {
        "section": "exports",
        "heading": _("Delete the replay “%(title)s”") % {"title": row.title},
        "sentences": [exports if count else _("It has no exports."), _("This cannot be undone.")],
        "verb": _("Delete"),
        "back": reverse("exports:replay", args=[row.pk]),
        "above": (reverse("exports:replays"), _("Replays")),
    }


def _own(request: HttpRequest, replay_id: int) -> Replay:
    return get_object_or_404(replays_of(current_user(request)), pk=replay_id)
