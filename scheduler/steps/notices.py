"""Tells those who are not looking: the caller of a run when it has ended, the operators when undoing failed.

Each message to each address is an Execution of the engine, started in the transaction of what it tells
of, so it is neither lost nor told of something that did not happen. Its receiver may get it twice, and
knows it by its id.
"""

import logging
from typing import Any

from django.conf import settings

from jobs import lifecycle as engine
from jobs.models import Webhook
from jobs.specs import ExecutionSpec
from jobs.sql import call
from jobs.states import EventType, Trigger
from scheduler.steps import sql
from scheduler.steps.models import StepQueue
from scheduler.steps.states import StepEventType

log = logging.getLogger(__name__)

DELIVER = "steps.deliver"
MAIL = "steps.mail"


def finished(queue_id: int) -> None:
    """The return message, as an event and to the queue's callback."""
    ((event,),) = call.rows(sql.ADD_FINISHED_EVENT, {"queue": queue_id, "type": StepEventType.FINISHED})
    if StepQueue.objects.filter(pk=queue_id).exclude(callback_url="").exists():
        _start(DELIVER, event, {"event": event})


def undo_failed(queue_id: int, run: int, told: dict[str, Any]) -> None:
    """A backward operation's retries are used up: somebody has to look."""
    log.error("queue %s: %s of job %s could not be undone", queue_id, told["operation"], told["job_id"])
    values = {"queue": queue_id, "run": run, "type": StepEventType.UNDO_FAILED}
    ((event,),) = call.rows(sql.ADD_EVENT, {**values, "details": call.as_json(told)})
    queue = StepQueue.objects.select_related("office", "owner").get(pk=queue_id)
    if queue.office is None:
        addresses = [queue.owner.email]
    else:
        addresses = list(queue.office.notify_emails)
        # Those that want to hear of what failed for good.
        wanted = Webhook.objects.filter(
            office=queue.office, enabled=True, event_types__contains=[EventType.JOB_FAILED]
        )
        for webhook in wanted:
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
