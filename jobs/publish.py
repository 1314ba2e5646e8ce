"""Publishes messages after a commit: each carries an Execution's id and the number of its dispatch.

A message only says "look". The sweep republishes one that is lost, and one that comes twice finds nothing
to claim, so a broker that is away costs time and nothing else.
"""

import logging
import os
import re
import secrets
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from celery import current_app
from django.conf import settings

from jobs import redis

log = logging.getLogger(__name__)

BATCH = 500
# The level of an Execution that no office owns: behind an office's first job, before what fills it up.
FAIR = 3
# The header of a message that went out before its submission was written: see jobs/early_messages.py.
EARLY = "dure_early"
# Redis has a queue for each role and level; the first level is served first.
LEVELS: tuple[int, ...] = (0, 3, 6, 9)
# kombu's sign between a role and a level.
LEVEL_SIGN = "\x06\x16"
MESSAGE_ID = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.\d+\.[0-9a-f]+")
ORIGIN = f"{os.getpid()}@{socket.gethostname()}"


@dataclass(frozen=True, slots=True)
class Send:
    """A message to publish. `level` is the broker's priority: 0 is served first."""

    execution: str
    dispatch: int
    role: str
    task_id: str
    level: int
    retries: int


def send_messages(sends: Sequence[Send], early: bool = False) -> bool:
    """Publish all of them; False if some may not have gone out."""
    if not sends:
        return True
    try:
        with redis.circuit_breaker(), open_producer() as producer:
            if len(sends) == 1:
                send_message(producer, sends[0], early)
            else:
                for start in range(0, len(sends), BATCH):
                    with producer.batch(BATCH):
                        for send in sends[start : start + BATCH]:
                            send_message(producer, send, early)
    except Exception as error:  # any error of the broker's client: the rows are safe
        log.warning("could not publish %s messages; the sweep will: %s", len(sends), error)
        return False
    return True


def send_early(send: Send) -> Any | None:
    """Publish one early message. The answer is to be read by `has_arrived`; None if it could not be sent."""
    try:
        with redis.circuit_breaker(), open_producer() as producer, producer.channel.defer_answer() as answer:
            send_message(producer, send, early=True)
    except Exception as error:  # any error of the broker's client
        log.warning("could not publish an early message; its submission will: %s", error)
        return None
    return answer


def has_arrived(answer: Any) -> bool:
    try:
        with redis.circuit_breaker():
            answer.read_answer()
    except Exception as error:  # any error of the broker's client
        log.warning("an early message may not have gone out: %s", error)
        return False
    return True


# Those not in use, the last one first. A forked process makes its own: the connections are its parent's.
_idle_producers: deque[Any] = deque()
os.register_at_fork(after_in_child=_idle_producers.clear)


@contextmanager
def open_producer() -> Iterator[Any]:
    """A producer that keeps its connection. To borrow one of Celery's pool would double a message's time.

    After an error it is closed.
    """
    try:
        producer = _idle_producers.pop()
    except IndexError:
        producer = current_app.amqp.Producer(current_app.connection_for_write(), auto_declare=False)
    try:
        yield producer
    except BaseException:
        with suppress(Exception):
            producer.connection.close()
        raise
    _idle_producers.append(producer)


def send_message(producer: Any, send: Send, early: bool = False) -> None:
    """Publish one message, without Celery's time limits: the worker's main process would keep a timer for
    each until its time, however soon the task has ended. See jobs/deadline.py for ours.
    """
    # The message of `send_task`; the parts that all messages share are built once.
    message = current_app.amqp.as_task_v2(
        message_id(send.execution, send.dispatch),
        send.task_id,
        args=(send.execution, send.dispatch),
        retries=send.retries,
        ignore_result=True,
        # Celery's events show these texts instead of the arguments.
        argsrepr=args_text(send.execution, send.dispatch),
        kwargsrepr="{}",
        origin=ORIGIN,
        root_id=send.execution,
    )
    if early:
        message.headers[EARLY] = True
    producer.publish(
        message.body,
        exchange="",
        routing_key=send.role,
        serializer="json",
        headers=message.headers,
        priority=send.level,
        delivery_mode=2,
        retry=False,
        **message.properties,
    )


def args_text(execution: str, dispatch: int) -> str:
    return f"({execution}, {dispatch})"


def most_urgent_waiting(roles: Sequence[str]) -> int:
    """The level of the most urgent message for these roles; the last one if none waits, or Redis is away."""
    keys = [(level, f"{role}{LEVEL_SIGN}{level}" if level else role) for level in LEVELS for role in roles]
    try:
        with redis.circuit_breaker():
            pipe = redis.client().pipeline(transaction=False)
            for _, key in keys:
                pipe.llen(key)
            lengths = pipe.execute()
    except redis.ERRORS:
        return LEVELS[-1]
    return next((level for (level, _), length in zip(keys, lengths, strict=True) if length), LEVELS[-1])


def message_id(execution: str, dispatch: int) -> str:
    """The id of a message, which Celery and Flower show. It begins with the Execution's, so that all messages
    of a run are found together; the end differs if the same message is sent again.
    """
    return f"{execution}.{dispatch}.{secrets.token_hex(2)}"


def execution_of(message: str) -> str | None:
    """The Execution of a message's id; None if the message is no run's."""
    match = MESSAGE_ID.fullmatch(message)
    return match[1] if match else None


def send_control(
    name: str, *args: object, expires: float | None = None, queue: str = "", **kwargs: object
) -> bool:
    """Send one of the engine's own tasks, to the control queue unless another is named."""
    try:
        with redis.circuit_breaker():
            current_app.send_task(
                name,
                args=args,
                kwargs=kwargs,
                queue=queue or settings.DURE_CONTROL_QUEUE,
                ignore_result=True,
                retry=False,
                expires=expires,
            )
    except Exception as error:  # any error of the broker's client
        log.warning("could not send %s; the sweep will do its work: %s", name, error)
        return False
    return True
