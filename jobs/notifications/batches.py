"""Batches of notifications: some to one webhook, or one mail to one address.

Sending uses no database, so it may run in any thread; the results are returned to be recorded.
"""

import json
import smtplib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from jobs import http_client
from jobs.models import Webhook
from jobs.models.notification import message_id
from jobs.notifications import chat, mail, signing
from jobs.notifications.texts import summarize

TIMEOUT_SECONDS = 10.0
# A batch begins no message after this long, so that it ends well before its claim does.
BATCH_SECONDS = 30.0
MAX_RETRY_AFTER: Final = timedelta(hours=1)

GONE = 410
# These concern the whole address and not one message: no server behind the proxy, or too many requests.
BUSY = (429, 502, 503, 504)


@dataclass(frozen=True)
class Result:
    """The outcome of some notifications that were sent together, or were not tried."""

    ids: Sequence[int]
    attempt: int
    answer: str
    sent: bool = False
    tried: bool = True
    gone_410: bool = False
    unresponsive: bool = False
    retry_after: timedelta | None = None


@dataclass(frozen=True)
class Message:
    id: int
    attempt: int
    body: str


@dataclass(frozen=True)
class WebhookBatch:
    """Some notifications for one webhook, sent one after the other."""

    webhook: Webhook
    messages: Sequence[Message]
    secrets: Sequence[str]

    def send(self) -> list[Result]:
        results: list[Result] = []
        ends = time.monotonic() + BATCH_SECONDS
        for message in self.messages:
            stopped = results and (results[-1].unresponsive or results[-1].gone_410)
            if stopped or (results and time.monotonic() > ends):
                break
            results.append(send_message(self.webhook, self.secrets, message))
        rest = self.messages[len(results) :]
        return [*results, *(Result([message.id], message.attempt, "", tried=False) for message in rest)]


@dataclass(frozen=True)
class MailBatch:
    """Everything due for one address, in one mail."""

    address: str
    office_name: str
    bodies: Sequence[str]
    ids_by_attempt: dict[int, list[int]]

    def send(self) -> list[Result]:
        count = sum(len(ids) for ids in self.ids_by_attempt.values())
        try:
            mail.send_failures(self.address, self.office_name, self.bodies, count)
            sent, answer = True, ""
        except (smtplib.SMTPException, OSError, ValueError) as error:  # ValueError: an address or a header
            sent, answer = False, f"{type(error).__name__}: {error}"
        return [Result(ids, attempt, answer, sent=sent) for attempt, ids in self.ids_by_attempt.items()]


NotificationBatch = WebhookBatch | MailBatch


def send_message(webhook: Webhook, secrets: Sequence[str], message: Message) -> Result:
    ids = [message.id]
    try:
        answer = _request(webhook, secrets, message)
    except (http_client.RequestRefused, http_client.NoResponse) as error:
        return Result(ids, message.attempt, str(error), unresponsive=True)
    return Result(
        ids,
        message.attempt,
        summary(answer),
        sent=200 <= answer.status < 300,
        gone_410=answer.status == GONE,
        unresponsive=answer.status in BUSY,
        retry_after=parse_retry_after(answer.headers.get("retry-after", "")),
    )


def _request(webhook: Webhook, secrets: Sequence[str], message: Message) -> http_client.Response:
    if webhook.is_chat:
        event = summarize(json.loads(message.body), webhook.office.name)
        return chat.post(webhook.url, webhook.format, event, seconds=TIMEOUT_SECONDS)
    return signing.post(
        webhook.url, secrets, message_id(message.id), message.body.encode(), seconds=TIMEOUT_SECONDS
    )


def summary(answer: http_client.Response) -> str:
    """The answer in one line, for the reader who looks for the reason that nothing arrives."""
    text = " ".join(answer.body.decode("utf-8", "replace").replace("\x00", "").split())
    hint = "; redirects are not followed" if 300 <= answer.status < 400 else ""
    return f"{answer.status} {answer.reason}{hint} {text}".strip()[:500]


def parse_retry_after(header: str) -> timedelta | None:
    """The pause that the receiver requests, at most an hour. A date instead of seconds is ignored."""
    if not (header.isascii() and header.isdecimal() and len(header) < 9):
        return None
    return min(timedelta(seconds=int(header)), MAX_RETRY_AFTER)
