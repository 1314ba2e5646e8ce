"""The pages of dead letters, for staff: list, detail, republish, discard."""

from collections.abc import Callable
from datetime import datetime

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from exports import deadletters
from exports.messages import INPUTS, MAX_FIELDS
from exports.models import DeadLetter, StreamOutbox
from exports.pages.filters import page_newest_first, read_filter
from exports.pages.wait_status import outbox_stuck_since
from jobs.keyset import page_links
from jobs.pages.permissions import current_user
from jobs.pages.verbs import call_verb

SIZE = 50
ANY = "any"
FILTERS = {"state": (*DeadLetter.State.values, ANY), "stream": INPUTS}
VERBS: dict[str, Callable[[int, User, datetime], DeadLetter]] = {
    "republish": deadletters.republish,
    "discard": deadletters.discard,
}


def require_staff(request: HttpRequest) -> User:
    """404 for other users: for them these pages do not exist."""
    user = current_user(request)
    if not user.is_staff:
        raise Http404
    return user


@require_safe
def dead_letters(request: HttpRequest) -> HttpResponse:
    require_staff(request)
    query = read_filter(request.GET, FILTERS)
    state = query.get("state") or DeadLetter.State.OPEN
    rows = DeadLetter.objects.none() if query.problems else DeadLetter.objects.select_related("handled_by")
    if state != ANY:
        rows = rows.filter(state=state)
    if stream := query.get("stream"):
        rows = rows.filter(source_stream=stream)
    page = page_newest_first(rows, request.GET, SIZE)
    context = {
        "section": "deadletters",
        "page": page,
        "filter": query,
        "states": DeadLetter.State.values,
        "streams": INPUTS,
        "state": state,
        "stream": query.get("stream"),
        "stuck_since": outbox_stuck_since(timezone.now()),
        **page_links(page, query.params),
    }
    return render(request, "exports/deadletters.html", context)


@require_safe
def dead_letter(request: HttpRequest, letter_id: int) -> HttpResponse:
    require_staff(request)
    row = get_object_or_404(DeadLetter.objects.select_related("handled_by"), pk=letter_id)
    context = {
        "section": "deadletters",
        "letter": row,
        "open": row.state == DeadLetter.State.OPEN,
        "fields": list(row.fields.items())[:MAX_FIELDS],
        "unsent_since": _unsent_since(row),
    }
    return render(request, "exports/deadletter.html", context)


@require_POST
def act(request: HttpRequest, letter_id: int, verb: str) -> HttpResponse:
    user = require_staff(request)
    row = get_object_or_404(DeadLetter, pk=letter_id)
    if verb not in VERBS:
        raise Http404
    if "sure" not in request.POST:
        return render(request, "exports/confirm.html", _confirmation(row, verb))
    sent, discarded = _("The message is being sent again."), _("The message was discarded.")
    done = sent if verb == "republish" else discarded
    call_verb(request, lambda: VERBS[verb](row.pk, user, timezone.now()), done)
    return redirect("exports:dead-letter", letter_id=row.pk)


def _confirmation(row: DeadLetter, verb: str) -> dict[str, object]:
    stream = {"stream": row.source_stream}
    if verb == "republish":
        heading, button = _("Send the message to %(stream)s again") % stream, _("Send again")
        sentences = [
            _("It is sent unchanged, with the same jobId, so it takes effect at most once."),
            _("If the cause is not fixed, it comes back as a new dead letter."),
        ]
    else:
        heading, button = _("Discard the message of %(stream)s") % stream, _("Discard")
        sentences = [_("The message is never sent again. Its record stays."), _("This cannot be undone.")]
    return {
        "section": "deadletters",
        "heading": heading,
        "sentences": sentences,
        "verb": button,
        "mild": verb == "republish",
        "back": reverse("exports:dead-letter", args=[row.pk]),
        "above": (reverse("exports:dead-letters"), _("Dead letters")),
    }


def _unsent_since(row: DeadLetter) -> datetime | None:
    """When a republished message went into the outbox, if it is still there."""
    if row.state != DeadLetter.State.REPUBLISHED or row.handled_at is None:
        return None
    unsent = StreamOutbox.objects.filter(
        stream=row.source_stream, created_at=row.handled_at, fields=row.fields
    )
    return row.handled_at if unsent.exists() else None
