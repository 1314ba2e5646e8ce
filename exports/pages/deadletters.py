"""Dead letters, for staff: the list, one with its message, and sending it again or discarding it."""

from collections.abc import Callable
from datetime import datetime

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from exports import deadletters
from exports.messages import MAX_FIELDS, PROGRESS, REQUESTS, RESULTS
from exports.models import DeadLetter, StreamOutbox
from exports.pages import labels
from exports.pages.filters import asked
from exports.pages.wait_status import waiting_messages
from jobs.errors import Conflict
from jobs.ids import parse_number
from jobs.keyset import page_links, page_of
from jobs.pages.permissions import current_user

SIZE = 50
ANY = "any"
STREAMS = (REQUESTS, PROGRESS, RESULTS)
FILTERS = {"state": (*DeadLetter.State.values, ANY), "stream": STREAMS}
VERBS: dict[str, Callable[[int, User, datetime], DeadLetter]] = {
    "republish": deadletters.republish,
    "discard": deadletters.discard,
}


def operator(request: HttpRequest) -> User:
    """For others than staff these pages do not exist."""
    found = current_user(request)
    if not found.is_staff:
        raise Http404
    return found


@require_safe
@login_required
def letters(request: HttpRequest) -> HttpResponse:
    operator(request)
    wanted = asked(request.GET, FILTERS)
    # What waits for somebody comes first; the rest is there for who asks for it.
    state = wanted.get("state") or DeadLetter.State.OPEN
    rows = DeadLetter.objects.none() if wanted.problems else DeadLetter.objects.select_related("handled_by")
    if state != ANY:
        rows = rows.filter(state=state)
    if stream := wanted.get("stream"):
        rows = rows.filter(source_stream=stream)
    after, before = parse_number(request.GET.get("after")), parse_number(request.GET.get("before"))
    page = page_of(rows, after=after, before=before, size=SIZE, order=("-pk",))
    context = {
        "section": "deadletters",
        "page": page,
        "filter": wanted,
        "states": DeadLetter.State.values,
        "streams": STREAMS,
        "state": state,
        "stream": wanted.get("stream"),
        "stuck_since": waiting_messages(timezone.now()),
        **page_links(page, wanted.query),
    }
    return render(request, "exports/deadletters.html", context)


@require_safe
@login_required
def letter(request: HttpRequest, letter_id: int) -> HttpResponse:
    operator(request)
    found = get_object_or_404(DeadLetter.objects.select_related("handled_by"), pk=letter_id)
    context = {
        "section": "deadletters",
        "letter": found,
        "open": found.state == DeadLetter.State.OPEN,
        "fields": list(found.fields.items())[:MAX_FIELDS],
        "unsent": _unsent(found),
    }
    return render(request, "exports/deadletter.html", context)


@require_POST
@login_required
def act(request: HttpRequest, letter_id: int, verb: str) -> HttpResponse:
    user = operator(request)
    found = get_object_or_404(DeadLetter, pk=letter_id)
    if verb not in VERBS:
        raise Http404
    if "sure" not in request.POST:
        return render(request, "exports/confirm.html", _question(found, verb))
    try:
        VERBS[verb](found.pk, user, timezone.now())
    except Conflict as conflict:
        messages.warning(request, labels.refusal(conflict))
    else:
        sent = _("The message goes to its stream again.")
        messages.success(request, sent if verb == "republish" else _("The message was discarded."))
    return redirect("exports:letter", letter_id=found.pk)


def _question(found: DeadLetter, verb: str) -> dict[str, object]:
    stream = {"stream": found.source_stream}
    if verb == "republish":
        heading, button = _("Send the message to %(stream)s again") % stream, _("Send again")
        sentences = [
            _("It goes out as it came, with the same jobId, so it has one effect at most."),
            _("If nothing was mended meanwhile it comes back as a new dead letter."),
        ]
    else:
        heading, button = _("Discard the message of %(stream)s") % stream, _("Discard")
        sentences = [_("It is never sent again. The record of it stays."), _("This cannot be undone.")]
    return {
        "section": "deadletters",
        "heading": heading,
        "sentences": sentences,
        "verb": button,
        "mild": verb == "republish",
        "back": reverse("exports:letter", args=[found.pk]),
        "above": (reverse("exports:letters"), _("Dead letters")),
    }


def _unsent(found: DeadLetter) -> datetime | None:
    """Since when it has waited to be sent again: it is in the outbox as it was put there."""
    if found.state != DeadLetter.State.REPUBLISHED or found.handled_at is None:
        return None
    waiting = StreamOutbox.objects.filter(
        stream=found.source_stream, created_at=found.handled_at, fields=found.fields
    )
    return found.handled_at if waiting.exists() else None
