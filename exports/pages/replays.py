"""The reader's replays: the list with the upload, one of them with its exports, and how it goes."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from exports import lifecycle
from exports import replays as replay_storage
from exports.api.replays import LONGEST_TITLE
from exports.models import Replay
from exports.pages import labels
from exports.pages.export_rows import own, shown
from exports.pages.exports import for_script, started
from exports.pages.uploads import UploadForm
from exports.states import JobType
from jobs.errors import Conflict
from jobs.ids import parse_number
from jobs.keyset import page_links, page_of
from jobs.pages.permissions import current_user

SIZE = 25
EXPORTS_SHOWN = 50
KINDS = {"mp4": JobType.MP4, "thumbnail": JobType.THUMBNAIL}


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def replays(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _list(request, UploadForm())
    form = UploadForm(request.POST, request.FILES)
    kept = form.keep(current_user(request)) if form.is_valid() else None
    if kept is None:
        return _list(request, form, status=400)
    messages.success(request, _("The replay was uploaded."))
    here = reverse("exports:replay", args=[kept.pk])
    # The script that sent it goes there by itself: it cannot see where a redirect leads before it is there.
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"next": here}, status=201)
    return redirect(here)


def _list(request: HttpRequest, form: UploadForm, status: int = 200) -> HttpResponse:
    after, before = parse_number(request.GET.get("after")), parse_number(request.GET.get("before"))
    rows = Replay.objects.filter(owner=current_user(request))
    page = page_of(rows, after=after, before=before, size=SIZE, order=("-pk",))
    context = {
        "section": "exports",
        "tab": "replays",
        "page": page,
        "form": form,
        "title_letters": LONGEST_TITLE,
        "most_bytes": settings.DURE_MAX_UPLOAD_BYTES,
        **page_links(page, QueryDict(mutable=True)),
    }
    return render(request, "exports/replays.html", context, status=status)


@require_safe
@login_required
def replay(request: HttpRequest, replay_id: int) -> HttpResponse:
    found = _own(request, replay_id)
    jobs = list(own(current_user(request)).filter(replay=found).order_by("-id")[:EXPORTS_SHOWN])
    context = {
        "section": "exports",
        "replay": found,
        "kind": labels.FORMATS.get(found.kind, found.kind),
        "exports": shown(jobs, timezone.now()),
        **for_script(),
    }
    return render(request, "exports/replay.html", context)


@require_POST
@login_required
def start(request: HttpRequest, replay_id: int, kind: str) -> HttpResponse:
    found = _own(request, replay_id)
    if kind not in KINDS:
        raise Http404
    return started(request, lifecycle.request(found, KINDS[kind], timezone.now()))


@require_POST
@login_required
def delete(request: HttpRequest, replay_id: int) -> HttpResponse:
    found = _own(request, replay_id)
    if "sure" not in request.POST:
        return render(request, "exports/confirm.html", _question(found))
    try:
        replay_storage.delete(found)
    except Conflict as conflict:
        messages.warning(request, labels.refusal(conflict))
        return redirect("exports:replay", replay_id=found.pk)
    messages.success(request, _("The replay was deleted."))
    return redirect("exports:replays")


def _question(found: Replay) -> dict[str, object]:
    count = found.exports.count()
    with_it = ngettext(
        "With it goes %(count)s export and its file.", "With it go %(count)s exports and their files.", count
    ) % {"count": count}
    return {
        "section": "exports",
        "heading": _("Delete the replay “%(title)s”") % {"title": found.title},
        "sentences": [with_it if count else _("It has no exports."), _("This cannot be undone.")],
        "verb": _("Delete"),
        "back": reverse("exports:replay", args=[found.pk]),
        "above": (reverse("exports:replays"), _("Replays")),
    }


def _own(request: HttpRequest, replay_id: int) -> Replay:
    """Somebody else's is as if it were not there."""
    return get_object_or_404(Replay, pk=replay_id, owner=current_user(request))
