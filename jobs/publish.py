"""Publishes what was committed: messages that carry an Execution's id and its dispatch number.

A message is a doorbell. One that is lost is rung again by the sweep, one that comes twice finds
nothing to claim, so a broker that is away costs time and nothing else.
"""

import logging
import os
import socket
import time
import uuid
from collections.abc import Sequence
from typing import Any

from celery import current_app
from django.conf import settings

log = logging.getLogger(__name__)

# After a failure nobody waits for the broker again until this long has passed: the sweep publishes.
REST_SECONDS = 2.0
BATCH = 500
# The level of an Execution that no office owns: behind an office's first job, before what fills it up.
FAIR = 3
ORIGIN = f"{os.getpid()}@{socket.gethostname()}"

_resting_until = 0.0


def messages(sends: Sequence[Sequence[Any]]) -> int:
    """Publish each `[execution, dispatch, role, task, level, retries, timeout_ms]`; how many went out."""
    global _resting_until  # noqa: PLW0603 (one circuit for the process)
    if not sends or time.monotonic() < _resting_until:
        return 0
    try:
        with current_app.producer_or_acquire() as producer:
            if len(sends) == 1:
                send(producer, *sends[0])
            else:
                for start in range(0, len(sends), BATCH):
                    with producer.batch(BATCH):
                        for one in sends[start : start + BATCH]:
                            send(producer, *one)
    except Exception as error:  # whatever the broker's client raises: the rows are safe
        _resting_until = time.monotonic() + REST_SECONDS
        log.warning("could not publish %s messages, the sweep will: %s", len(sends), error)
        return 0
    return len(sends)


def send(
    producer: Any,
    execution: str,
    dispatch: int,
    role: str,
    task_id: str,
    level: int,
    retries: int,
    _timeout_ms: int,
) -> None:
    """One message. No time limits ride along: Celery's main process keeps a timer for each until its time,
    however soon the task has ended. See jobs/deadline.py for ours.
    """
    # What `send_task` would write, without looking up again for each message what is the same for all.
    message = current_app.amqp.as_task_v2(
        # A fresh id for each message: Celery discards one that it has seen revoked.
        str(uuid.uuid4()),
        task_id,
        args=(execution, dispatch),
        retries=retries,
        ignore_result=True,
        # Neither the arguments nor their text is wanted in events; ids are all there is.
        argsrepr=f"({execution}, {dispatch})",
        kwargsrepr="{}",
        origin=ORIGIN,
    )
    producer.publish(
        message.body,
        exchange="",
        routing_key=role,
        serializer="json",
        headers=message.headers,
        priority=level,
        delivery_mode=2,
        retry=False,
        **message.properties,
    )


def control(name: str, *args: object, expires: float | None = None, queue: str = "") -> bool:
    """Ring one of the engine's own tasks, on the control queue unless told another."""
    global _resting_until  # noqa: PLW0603
    if time.monotonic() < _resting_until:
        return False
    try:
        current_app.send_task(
            name,
            args=args,
            queue=queue or settings.DURE_CONTROL_QUEUE,
            ignore_result=True,
            retry=False,
            expires=expires,
        )
    except Exception as error:
        _resting_until = time.monotonic() + REST_SECONDS
        log.warning("could not ring %s, the sweep will do it: %s", name, error)
        return False
    return True
