"""Sends the notifications that are due, and records the results.

A notification is claimed by moving its time ahead, sent with no transaction open, then recorded. A
crash in between only delays it; it may then arrive twice, with the same `webhook-id` both times.
Not guaranteed: an order among the notifications of a webhook.

A webhook has one connection at a time, so a slow server delays only itself. A webhook that does not
answer, or says that it is busy, pauses for a while with everything that waits for it.

Notifications are not Executions: to claim and finish 20,000 Executions takes twice the processor time of this
module, before any message to a worker, and these are sent in batches of ten over few statements.
"""

import logging
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction

from jobs.models import Notification, Office, Webhook
from jobs.notifications import mail, webhooks
from jobs.notifications.batches import MailBatch, Message, NotificationBatch, Result, WebhookBatch
from jobs.notifications.creation import database_time, lock_cursor
from jobs.sql import call
from jobs.sql import notifications as statements

log = logging.getLogger(__name__)

# The delays after each attempt; after the last one Dure gives up the notification.
RETRY_DELAYS: Final = tuple(
    timedelta(seconds=seconds) for seconds in (5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600)
)
JITTER = 0.2
PAUSE: Final = timedelta(seconds=30)

THREADS = 16
BATCH_SIZE = 10
CLAIM_HOLD: Final = timedelta(seconds=120)
# A pass that keeps finding more ends after this, to let other tasks run; the sweep requests the next one.
PASS_SECONDS = 60.0


def send_due(now: datetime | None = None) -> int:
    """Send due notifications, and return how many arrived."""
    arrived, ends = 0, time.monotonic() + PASS_SECONDS
    running: dict[Future[list[Result]], NotificationBatch] = {}
    with ThreadPoolExecutor(THREADS, thread_name_prefix="notifications") as threads:
        while True:
            if time.monotonic() < ends:
                for batch in claim(THREADS - len(running), list(running.values()), now):
                    running[threads.submit(batch.send)] = batch
            if not running:
                return arrived
            # With a time-out: something may become due meanwhile for another address.
            done, _ = wait(running, timeout=1.0, return_when=FIRST_COMPLETED)
            for future in done:
                arrived += record(running.pop(future), future.result(), now)


# --- claim ---------------------------------------------------------------------------------------


def claim(limit: int, running: Sequence[NotificationBatch], now: datetime | None) -> list[NotificationBatch]:
    """Claim at most `limit` batches, none for a webhook with a batch in delivery."""
    if limit <= 0:
        return []
    busy = [batch.webhook.pk for batch in running if isinstance(batch, WebhookBatch)]
    time = database_time(now)
    batches: list[NotificationBatch] = [*_claim_for_webhooks(limit, busy, time)]
    return batches + _claim_for_addresses(limit - len(batches), time)


def _claim_for_webhooks(limit: int, busy: list[int], now: datetime) -> list[WebhookBatch]:
    values = {"now": now, "busy": busy, "limit": limit, "batch_size": BATCH_SIZE, "hold": CLAIM_HOLD}
    messages: dict[int, list[Message]] = defaultdict(list)
    for webhook, *message in call.rows(statements.CLAIM_FOR_WEBHOOKS, values):
        messages[webhook].append(Message(*message))
    return [
        WebhookBatch(
            webhook,
            sorted(messages[pk], key=lambda message: message.id),
            webhooks.valid_secrets(webhook, now),
        )
        for pk, webhook in Webhook.objects.select_related("office").in_bulk(list(messages)).items()
    ]


def _claim_for_addresses(limit: int, now: datetime) -> list[MailBatch]:
    if limit <= 0:
        return []
    due = call.rows(statements.DUE_ADDRESSES, {"now": now, "limit": limit})
    batches = (_claim_for_address(office, address, now) for office, address in due)
    return [batch for batch in batches if batch is not None]


def _claim_for_address(office: UUID, address: str, now: datetime) -> MailBatch | None:
    with transaction.atomic():
        # While the cursor is locked nothing is added; what follows joins the next mail (creation._mail_time).
        if not lock_cursor(office):
            return None
        values = {"now": now, "office": office, "address": address, "hold": CLAIM_HOLD}
        claimed = call.rows(statements.CLAIM_FOR_ADDRESS, values)
    if not claimed:
        return None
    ids_by_attempt: dict[int, list[int]] = defaultdict(list)
    for notification, attempt in claimed:
        ids_by_attempt[attempt].append(notification)
    listed = sorted(notification for notification, _ in claimed)[: mail.MAX_LISTED]
    bodies = Notification.objects.filter(pk__in=listed).order_by("pk").values_list("body", flat=True)
    name = Office.objects.values_list("name", flat=True).get(pk=office)
    return MailBatch(address, name, list(bodies), dict(ids_by_attempt))


# --- record --------------------------------------------------------------------------------------


def retry_delay(attempt: int, random_value: float) -> timedelta | None:
    """The time to wait after that attempt, counted from 1; None after the last one."""
    if attempt > len(RETRY_DELAYS):
        return None
    return RETRY_DELAYS[attempt - 1] * (1 + JITTER * (2 * random_value - 1))


def record(batch: NotificationBatch, results: Sequence[Result], now: datetime | None) -> int:
    """Write the results, and return how many notifications arrived."""
    time = database_time(now)
    # Equal results are one statement: most batches end with one.
    ids: dict[Result, list[int]] = defaultdict(list)
    for result in results:
        ids[replace(result, ids=())] += result.ids
    for result, equal in ids.items():
        _record_result(replace(result, ids=equal), time)
    if isinstance(batch, WebhookBatch):
        _update_webhook(batch.webhook, results, time)
    return sum(len(result.ids) for result in results if result.sent)


def _record_result(result: Result, now: datetime) -> None:
    values = {
        "ids": list(result.ids),
        "attempt": result.attempt,
        "now": now,
        "answer": result.answer.replace("\x00", "")[:500],
    }
    delay = retry_delay(result.attempt, random.random())
    if result.sent:
        call.change(statements.MARK_SENT, values)
    elif not result.tried:
        call.change(statements.RELEASE, values)
    elif delay is None:
        call.change(statements.GIVE_UP, values)
        log.warning(
            "gave up notifications %s after %s attempts: %s", result.ids, result.attempt, result.answer
        )
    else:
        call.change(statements.RETRY, {**values, "next": now + max(delay, result.retry_after or delay)})


def _update_webhook(webhook: Webhook, results: Sequence[Result], now: datetime) -> None:
    """Disable or pause the webhook when an answer concerns its whole address."""
    if any(result.gone_410 for result in results):
        webhooks.disable(webhook, "It answered 410 Gone.")
        return
    failed = next((result for result in results if result.unresponsive), None)
    if failed is not None:
        # Not longer than until its next attempt: the first one comes soon.
        delay = retry_delay(failed.attempt, 0.5) or PAUSE
        pause = failed.retry_after or min(PAUSE, delay)
        call.change(statements.PAUSE_WEBHOOK, {"webhook": webhook.pk, "until": now + pause})
