"""Notifies the caller of a run when it has ended, and the operators when a rollback failed.

Each message to each receiver is an Execution, started in the transaction that writes its event, so no
message is lost and none reports something that did not happen. The engine retries a delivery that failed;
a receiver may get a message twice, and recognises it by its id.
"""

import json
import logging
from typing import Any

from django.conf import settings
from django.core import mail
from django.db.models.functions import Now
from django.utils import timezone, translation
from django.utils.translation import gettext

from dure import FailureType, SessionError, TaskFailure
from jobs import http_client
from jobs import lifecycle as engine
from jobs.api_model import iso_time
from jobs.models import Webhook
from jobs.notifications import chat, signing, webhooks
from jobs.notifications.texts import MAX_ERROR, Summary, single_line, time_of
from jobs.specs import ExecutionSpec
from jobs.sql import call
from jobs.states import EventType, Trigger
from scheduler.steps import sql
from scheduler.steps.models import StepEvent, StepQueue
from scheduler.steps.states import StepEventType

log = logging.getLogger(__name__)

DELIVER = "steps.deliver"
MAIL = "steps.mail"


# --- Started with the event ----------------------------------------------------------------------


def notify_finished(queue_id: int) -> None:
    """Write the return message as an event, and send it to the queue's callback."""
    ((event,),) = call.rows(sql.ADD_FINISHED_EVENT, {"queue": queue_id, "type": StepEventType.FINISHED})
    if StepQueue.objects.filter(pk=queue_id).exclude(callback_url="").exists():
        _start(DELIVER, event, {"event": event})


def notify_undo_failed(queue_id: int, run: int, step: dict[str, Any]) -> None:
    """A backward operation has no retries left: notify the office, or the queue's owner."""
    log.error(
        "queue %s: the backward operation %s of job %s failed for good",
        queue_id,
        step["operation"],
        step["job_id"],
    )
    event = StepEvent.objects.create(
        queue_id=queue_id, run=run, type=StepEventType.UNDO_FAILED, details=step, at=Now()
    ).id
    queue = StepQueue.objects.select_related("office", "owner").get(pk=queue_id)
    if queue.office is None:
        addresses = [queue.owner.email]
    else:
        addresses = list(queue.office.notify_emails)
        for webhook in Webhook.objects.filter(
            office=queue.office, enabled=True, event_types__contains=[EventType.JOB_FAILED]
        ):
            _start(DELIVER, event, {"event": event, "webhook": webhook.id})
    for address in filter(None, addresses):
        _start(MAIL, event, {"event": event, "address": address})


def _start(task_id: str, event: int, args: dict[str, Any]) -> None:
    spec = ExecutionSpec(
        task_id=task_id,
        role="default",
        trigger=Trigger.STEP,
        source=f"event:{event}",
        args=args,
        max_retries=settings.DURE_STEP_NOTICE_RETRIES,
        retry_base_delay_ms=5_000,
        timeout_ms=30_000,
    )
    engine.start_executions([spec])


# --- Run by a worker -----------------------------------------------------------------------------


def deliver(event_id: int, webhook_id: int | None) -> dict[str, Any] | None:
    """POST the event to the queue's callback, or to a webhook of its office."""
    event = _event(event_id)
    if event is None:
        return None
    webhook = None
    if webhook_id is not None:
        webhook = Webhook.objects.filter(id=webhook_id, enabled=True).select_related("office").first()
        if webhook is None:
            return None
    try:
        answer = _post(event, webhook)
    except http_client.RequestRefused as refused:
        raise TaskFailure(str(refused), FailureType.PERMISSION_ERROR) from None
    except http_client.NoResponse as error:
        raise SessionError(str(error)) from None
    if not 200 <= answer.status < 300:
        raise SessionError(f"The receiver answered {answer.status} {answer.reason}.")
    return {"status": answer.status}


def _post(event: StepEvent, webhook: Webhook | None) -> http_client.Response:
    if webhook is not None and webhook.is_chat:
        return chat.post(webhook.url, webhook.format, summarize(event, webhook.office.name))
    url, secrets = event.queue.callback_url, [event.queue.callback_secret]
    if webhook is not None:
        url, secrets = webhook.url, webhooks.valid_secrets(webhook, timezone.now())
    return signing.post(url, secrets, f"msg_step_{event.id}", json.dumps(body(event)).encode())


def summarize(event: StepEvent, office_name: str) -> Summary:
    """A failed rollback, for people in a chat."""
    step = event.details
    message = body(event)
    with translation.override(settings.LANGUAGE_CODE):
        lines = (
            gettext("The backward operation %(operation)s of job %(number)s failed, and no retries are left.")
            % {"operation": step["operation"], "number": step["number"]},
            gettext("The rollback continued with the jobs before it."),
        )
        return Summary(
            title=gettext("A rollback of step queue %(queue)s has failed") % {"queue": event.queue},
            lines=lines,
            error=str(step["return"] or "")[:MAX_ERROR],
            link=f"{settings.BASE_URL}/step-queues/{event.queue_id}",
            link_text=gettext("Open in Dure"),
            context=f"{single_line(office_name)} · {time_of(message)}",
            tone="bad",
        )


def body(event: StepEvent) -> dict[str, Any]:
    """The same at every attempt."""
    queue = {"queue_id": event.queue_id, "name": event.queue.name, "run": event.run}
    return {"type": event.type, "timestamp": iso_time(event.at), "data": {**queue, **event.details}}


def send_mail(event_id: int, address: str) -> None:
    event = _event(event_id)
    if event is None:
        return
    step = event.details
    mail.send_mail(
        subject=f"[Dure] {event.queue}: a rollback failed",
        message=(
            f"Queue {event.queue_id} ({event.queue}), run {event.run}: the backward operation "
            f"{step['operation']} of job {step['number']} failed, and no retries are left.\n\n"
            f"{step['return']}\n\nThe rollback continued with the jobs before it. When the cause is fixed, "
            f"run it again:\n\n    POST /api/queues/{event.queue_id}/jobs/{step['job_id']}/rerun\n"
        ),
        from_email=None,
        recipient_list=[address],
    )


def _event(event_id: int) -> StepEvent | None:
    """The event; None if the queue was deleted with its events."""
    return StepEvent.objects.select_related("queue").filter(id=event_id).first()
