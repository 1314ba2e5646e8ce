"""What is sent in one go: a few notices to one webhook, or one mail to one address.

Sending asks no database, so it may run in any thread; what became of each notice is returned.
"""

import smtplib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from jobs import http_client
from jobs.models import Webhook
from jobs.notifications import mail, signing

TIMEOUT_SECONDS = 10.0
# A parcel starts no message after this long, so that it is done well before its claim runs out.
PARCEL_SECONDS = 30.0
LONGEST_WISH: Final = timedelta(hours=1)

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


def message_id(notice: int) -> str:
    """The `webhook-id`: the same over all attempts, and when it is sent again by hand."""
    return f"msg_{notice}"


def post(url: str, secrets: Sequence[str], message: Message) -> Result:
    body = message.body.encode()
    signed = signing.headers(secrets, message_id(message.id), int(time.time()), body)
    try:
        answer = http_client.request(
            "POST",
            url,
            headers={"Content-Type": "application/json", **signed},
            body=body,
            seconds=TIMEOUT_SECONDS,
            limit=4_096,
        )
    except http_client.RequestRefused as refused:
        return Result([message.id], message.attempt, str(refused), mute=True)
    except http_client.Unanswered as unanswered:
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


def said(answer: http_client.Answer) -> str:
    """The answer, for whoever looks into why nothing arrives."""
    text = " ".join(answer.body.decode("utf-8", "replace").replace("\x00", "").split())
    hint = "; redirects are not followed" if 300 <= answer.status < 400 else ""
    return f"{answer.status} {answer.reason}{hint} {text}".strip()[:500]


def wish_of(retry_after: str) -> timedelta | None:
    """How long the receiver asks to be left alone, within reason. A date instead of seconds is not read."""
    if not (retry_after.isascii() and retry_after.isdecimal() and len(retry_after) < 9):
        return None
    return min(timedelta(seconds=int(retry_after)), LONGEST_WISH)
