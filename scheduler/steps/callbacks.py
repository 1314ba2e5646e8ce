"""Sends one notification to one address, in a worker; the engine tries again what failed."""

import json
import time
from collections.abc import Sequence
from typing import Any

from django.core.mail import send_mail
from django.utils import timezone

from jobs import http_client
from jobs.errors import SessionError, TaskFailure
from jobs.models import Webhook
from jobs.notifications import signing, webhooks
from jobs.states import FailureType
from scheduler.steps.models import StepEvent


def post(event_id: int, webhook_id: int | None) -> dict[str, Any] | None:
    """To the queue's callback, or to a webhook of its office; signed after Standard Webhooks."""
    event = StepEvent.objects.select_related("queue").filter(id=event_id).first()
    if event is None:
        return None  # the queue was deleted, and with it whoever wanted to know
    url, secrets = event.queue.callback_url, [event.queue.callback_secret]
    if webhook_id is not None:
        webhook = Webhook.objects.filter(id=webhook_id, enabled=True).first()
        if webhook is None:
            return None
        url, secrets = webhook.url, webhooks.valid_secrets(webhook, timezone.now())
    try:
        answer = http_client.request("POST", url, **signed(event, secrets))
    except http_client.RequestRefused as refused:
        raise TaskFailure(str(refused), FailureType.PERMISSION_ERROR) from None
    except http_client.Unanswered as silent:
        raise SessionError(str(silent)) from None
    if not 200 <= answer.status < 300:
        raise SessionError(f"The receiver answered {answer.status} {answer.reason}.")
    return {"status": answer.status}


def signed(event: StepEvent, secrets: Sequence[str]) -> dict[str, Any]:
    """The same id and body at every try; the signature is of now."""
    body = json.dumps(
        {"type": event.type, "timestamp": event.at.isoformat(), "data": data_of(event)}
    ).encode()
    signature = signing.headers(secrets, f"msg_step_{event.id}", int(time.time()), body)
    return {"headers": {"Content-Type": "application/json", **signature}, "body": body}


def data_of(event: StepEvent) -> dict[str, Any]:
    return {"queue_id": event.queue_id, "name": event.queue.name, "run": event.run, **event.details}


def mail(event_id: int, address: str) -> None:
    event = StepEvent.objects.select_related("queue").filter(id=event_id).first()
    if event is None:
        return
    told = event.details
    send_mail(
        subject=f"[Dure] {event.queue}: an operation could not be undone",
        message=(
            f"Queue {event.queue_id} ({event.queue}), run {event.run}: the backward operation "
            f"{told['operation']} of job {told['number']} failed, and its retries are used up.\n\n"
            f"{told['return']}\n\nThe walk went on to the jobs before it. Once the cause is mended, run it "
            f"again:\n\n    POST /api/queues/{event.queue_id}/jobs/{told['job_id']}/rerun\n"
        ),
        from_email=None,
        recipient_list=[address],
    )
