"""Sends the notices that are due, and records what became of each.

A notice is claimed by moving its time ahead, then sent with no transaction open, then recorded. A
crash in between only delays it, and it may then arrive twice: its `webhook-id` is the same both times.
Not promised: an order among the notices of a webhook.

A webhook has one connection at a time, so a slow server holds up nobody but itself; one that does not
answer, or says that it is busy, is spared for a while with all that waits for it.
"""

import logging
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction

from jobs.models import Notice, Office, Webhook
from jobs.notifications import from_events, mail, webhooks
from jobs.notifications.batches import MailParcel, Message, Parcel, Result, WebhookParcel
from jobs.sql import call
from jobs.sql import notifications as statements

log = logging.getLogger(__name__)

# After the first attempt and after each one that follows; then nobody tries any more.
RETRY_AFTER: Final = tuple(
    timedelta(seconds=seconds) for seconds in (5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600)
)
JITTER = 0.2
SPARED: Final = timedelta(seconds=30)

THREADS = 16
PARCEL = 10
HOLD: Final = timedelta(seconds=120)
# A pass that finds ever more ends after this, for others to have their turn; the sweep rings again.
PASS_SECONDS = 60.0


def deliver(now: datetime | None = None, limit: int = 10_000) -> int:
    """Send what is due; how many notices arrived."""
    arrived, ends = 0, time.monotonic() + PASS_SECONDS
    under_way: dict[Future[list[Result]], Parcel] = {}
    with ThreadPoolExecutor(THREADS, thread_name_prefix="notices") as threads:
        while True:
            if arrived < limit and time.monotonic() < ends:
                for parcel in claim(THREADS - len(under_way), list(under_way.values()), now):
                    under_way[threads.submit(parcel.send)] = parcel
            if not under_way:
                return arrived
            # Not for ever: something may become due meanwhile for another address.
            done, _ = wait(under_way, timeout=1.0, return_when=FIRST_COMPLETED)
            for future in done:
                arrived += record(under_way.pop(future), future.result(), now)


# --- claim ---------------------------------------------------------------------------------------


def claim(room: int, under_way: Sequence[Parcel], now: datetime | None) -> list[Parcel]:
    if room <= 0:
        return []
    busy = [parcel.webhook.pk for parcel in under_way if isinstance(parcel, WebhookParcel)]
    moment = from_events.time_of(now)
    parcels: list[Parcel] = [*_for_webhooks(room, busy, moment)]
    return parcels + _for_addresses(room - len(parcels), moment)


def _for_webhooks(room: int, busy: list[int], now: datetime) -> list[WebhookParcel]:
    values = {"now": now, "busy": busy, "room": room, "each": PARCEL, "hold": HOLD}
    messages: dict[int, list[Message]] = defaultdict(list)
    for webhook, *message in call.rows(statements.CLAIM_FOR_WEBHOOKS, values):
        messages[webhook].append(Message(*message))
    found = Webhook.objects.in_bulk(list(messages))
    return [
        WebhookParcel(
            webhook, sorted(messages[pk], key=lambda one: one.id), webhooks.secrets_of(webhook, now)
        )
        for pk, webhook in found.items()
    ]


def _for_addresses(room: int, now: datetime) -> list[Parcel]:
    if room <= 0:
        return []
    due = call.rows(statements.DUE_ADDRESSES, {"now": now, "room": room})
    found = [_for_address(office, address, now) for office, address in due]
    return [parcel for parcel in found if parcel is not None]


def _for_address(office: UUID, address: str, now: datetime) -> MailParcel | None:
    with transaction.atomic():
        # With the relay shut out, what it adds now joins the next mail: see notices._time_for.
        if not from_events.cursor_is_free(office):
            return None
        values = {"now": now, "office": office, "address": address, "hold": HOLD}
        claimed = call.rows(statements.CLAIM_FOR_ADDRESS, values)
    if not claimed:
        return None
    attempts: dict[int, list[int]] = defaultdict(list)
    for notice, attempt in claimed:
        attempts[attempt].append(notice)
    first = sorted(notice for notice, _ in claimed)[: mail.LISTED]
    bodies = Notice.objects.filter(pk__in=first).order_by("pk").values_list("body", flat=True)
    name = Office.objects.values_list("name", flat=True).get(pk=office)
    return MailParcel(address, name, list(bodies), dict(attempts))


# --- record --------------------------------------------------------------------------------------


def retry_delay(attempt: int, chance: float) -> timedelta | None:
    """How long to wait after that attempt, counted from 1; None when it was the last one."""
    if attempt > len(RETRY_AFTER):
        return None
    return RETRY_AFTER[attempt - 1] * (1 + JITTER * (2 * chance - 1))


def record(parcel: Parcel, results: Sequence[Result], now: datetime | None) -> int:
    """How many notices arrived."""
    moment = from_events.time_of(now)
    for result in results:
        values = {"ids": list(result.ids), "attempt": result.attempt, "now": moment}
        values["answer"] = result.answer.replace("\x00", "")[:500]
        delay = retry_delay(result.attempt, random.random())
        if result.sent:
            call.change(statements.SENT, values)
        elif not result.tried:
            call.change(statements.NOT_TRIED, {**values, "next": moment})
        elif delay is None:
            call.change(statements.GAVE_UP, values)
            log.warning("gave up notices %s after %s attempts: %s", result.ids, result.attempt, result.answer)
        else:
            call.change(statements.AGAIN, {**values, "next": moment + max(delay, result.wish or delay)})
    if isinstance(parcel, WebhookParcel):
        _learn(parcel.webhook, results, moment)
    return sum(len(result.ids) for result in results if result.sent)


def _learn(webhook: Webhook, results: Sequence[Result], now: datetime) -> None:
    """What the answers say about the address itself."""
    if any(result.gone for result in results):
        webhooks.disable(webhook, "It answered 410 Gone.")
    elif mute := next((result for result in results if result.mute), None):
        # Not longer than until its next attempt: the first one comes soon.
        own = retry_delay(mute.attempt, 0.5) or SPARED
        rest = mute.wish or min(SPARED, own)
        call.change(statements.SPARE_WEBHOOK, {"webhook": webhook.pk, "until": now + rest})
