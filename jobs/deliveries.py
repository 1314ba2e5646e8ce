"""Sends the notices that are due, and records what became of each.

A notice is claimed by moving its time ahead, then sent with no transaction open, then recorded. A
crash in between only delays it, and it may then arrive twice: its `webhook-id` is the same both times.
Not promised: an order among the notices of a webhook.

A webhook has one connection at a time, so a slow server holds up nobody but itself; one that does not
answer, or says that it is busy, is spared for a while with all that waits for it.
"""

import logging
import random
import smtplib
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction

from jobs import mail, notices, outbound, signing, webhooks
from jobs.models import Notice, Office, Webhook
from jobs.sql import call
from jobs.sql import notices as statements

log = logging.getLogger(__name__)

# After the first attempt and after each one that follows; then nobody tries any more.
RETRY_AFTER: Final = tuple(
    timedelta(seconds=seconds) for seconds in (5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600)
)
JITTER = 0.2
SPARED: Final = timedelta(seconds=30)
LONGEST_WISH: Final = timedelta(hours=1)

THREADS = 16
PARCEL = 10
TIMEOUT_SECONDS = 10.0
# A parcel starts no message after this long, so that it is done well before its claim runs out.
PARCEL_SECONDS = 30.0
HOLD: Final = timedelta(seconds=120)
# A pass that finds ever more ends after this, for others to have their turn; the sweep rings again.
PASS_SECONDS = 60.0

GONE = 410
# Of the whole address rather than of this message: a proxy without a server behind it, or too much of us.
BUSY = (429, 502, 503, 504)


@dataclass(frozen=True)
class Result:
    """What became of some notices that were sent together, or were not."""

    ids: Sequence[int]
    attempt: int
    answer: str
    sent: bool = False
    tried: bool = True
    gone: bool = False
    # The address answers nobody now.
    mute: bool = False
    wish: timedelta | None = None


@dataclass(frozen=True)
class Message:
    id: int
    attempt: int
    body: str


@dataclass(frozen=True)
class WebhookParcel:
    """Some notices for one webhook, sent one after the other."""

    webhook: Webhook
    messages: Sequence[Message]
    secrets: Sequence[str]

    def send(self) -> list[Result]:
        results: list[Result] = []
        until = time.monotonic() + PARCEL_SECONDS
        for place, message in enumerate(self.messages):
            if results and (results[-1].mute or results[-1].gone or time.monotonic() > until):
                left = self.messages[place:]
                return [*results, *(Result([one.id], one.attempt, "", tried=False) for one in left)]
            results.append(post(self.webhook.url, self.secrets, message))
        return results


@dataclass(frozen=True)
class MailParcel:
    """All that is due for one address, in one mail."""

    address: str
    office_name: str
    bodies: Sequence[str]
    attempts: dict[int, list[int]]

    def send(self) -> list[Result]:
        count = sum(len(ids) for ids in self.attempts.values())
        try:
            mail.send_failures(self.address, self.office_name, self.bodies, count)
            sent, answer = True, ""
        except (smtplib.SMTPException, OSError, ValueError) as error:  # ValueError: an address or a header
            sent, answer = False, f"{type(error).__name__}: {error}"
        return [Result(ids, attempt, answer, sent=sent) for attempt, ids in self.attempts.items()]


Parcel = WebhookParcel | MailParcel


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
    moment = notices.time_of(now)
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
        if not notices.cursor_is_free(office):
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


# --- send ----------------------------------------------------------------------------------------


def message_id(notice: int) -> str:
    """The `webhook-id`: the same over all attempts, and when it is sent again by hand."""
    return f"msg_{notice}"


def post(url: str, secrets: Sequence[str], message: Message) -> Result:
    body = message.body.encode()
    signed = signing.headers(secrets, message_id(message.id), int(time.time()), body)
    try:
        answer = outbound.request(
            "POST",
            url,
            headers={"Content-Type": "application/json", **signed},
            body=body,
            seconds=TIMEOUT_SECONDS,
            limit=4_096,
        )
    except outbound.RequestRefused as refused:
        return Result([message.id], message.attempt, str(refused), mute=True)
    except outbound.Unanswered as unanswered:
        return Result([message.id], message.attempt, str(unanswered), mute=True)
    return Result(
        [message.id],
        message.attempt,
        said(answer),
        sent=200 <= answer.status < 300,
        gone=answer.status == GONE,
        mute=answer.status in BUSY,
        wish=wish_of(answer.headers.get("retry-after", "")),
    )


def said(answer: outbound.Answer) -> str:
    """The answer, for whoever looks into why nothing arrives."""
    text = " ".join(answer.body.decode("utf-8", "replace").replace("\x00", "").split())
    hint = "; redirects are not followed" if 300 <= answer.status < 400 else ""
    return f"{answer.status} {answer.reason}{hint} {text}".strip()[:500]


def wish_of(retry_after: str) -> timedelta | None:
    """How long the receiver asks to be left alone, within reason. A date instead of seconds is not read."""
    if not (retry_after.isascii() and retry_after.isdecimal() and len(retry_after) < 9):
        return None
    return min(timedelta(seconds=int(retry_after)), LONGEST_WISH)


# --- record --------------------------------------------------------------------------------------


def retry_delay(attempt: int, chance: float) -> timedelta | None:
    """How long to wait after that attempt, counted from 1; None when it was the last one."""
    if attempt > len(RETRY_AFTER):
        return None
    return RETRY_AFTER[attempt - 1] * (1 + JITTER * (2 * chance - 1))


def record(parcel: Parcel, results: Sequence[Result], now: datetime | None) -> int:
    """How many notices arrived."""
    moment = notices.time_of(now)
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
