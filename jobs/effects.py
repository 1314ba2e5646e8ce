"""Effects after a commit: messages, chord parts, stop requests and notifications.

Any of it may be lost at any point, or done twice: a sweep repeats what matters.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from celery import current_app
from django.db import DatabaseError, InterfaceError, transaction

from jobs import joins, publish, pubsub, redis
from jobs.notifications import requests
from jobs.publish import Send
from jobs.sql import call, statements

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of one transaction of the engine.

    `parts` are `[join, dependency, position]` of chord parts that came in, `stop` the runs to stop;
    `publish` and `notify` name the office whose sockets, or whose webhooks and mail, have something new.
    """

    send: Sequence[Send] = ()
    parts: Sequence[Sequence[Any]] = ()
    stop: Sequence[str] = ()
    publish: str | None = None
    notify: str | None = None

    @classmethod
    def read(cls, answer: Mapping[str, Any]) -> Self:
        """Read the result of an engine function: see dure_effects in engine.sql."""
        return cls(
            send=[Send(*values) for values in answer.get("send", ())],
            parts=answer.get("parts", ()),
            stop=answer.get("stop", ()),
            publish=answer.get("publish"),
            notify=answer.get("notify"),
        )

    def on_commit(self) -> None:
        """Apply these once the current transaction has committed, or now when there is none."""
        transaction.on_commit(self.apply)

    def apply(self) -> None:
        if self.send and not publish.send_messages(self.send):
            mark_unsent(self.send)
        if self.parts:
            joins.count(self.parts)
        if self.stop:
            stop_runs(self.stop)
        if self.publish:
            pubsub.publish_change(self.publish)
        if self.notify:
            requests.request_creation(self.notify)


NO_EFFECTS = Effects()


def mark_unsent(sends: Sequence[Send]) -> None:
    """Have the next sweep publish these messages, and not only after the wait of a message that went out."""
    try:
        call.change(
            statements.MARK_UNSENT, [[send.execution for send in sends], [send.dispatch for send in sends]]
        )
    except (DatabaseError, InterfaceError) as error:
        log.warning("%s messages will be republished later: %s", len(sends), str(error).strip())


def stop_runs(executions: Sequence[str]) -> None:
    """Ask the workers to stop these runs. A lost message does no harm: the next heartbeat stops them."""
    try:
        with redis.circuit_breaker():
            current_app.control.broadcast("dure_stop", arguments={"executions": list(executions)})
    except Exception as error:  # any error of the broker's client
        log.warning("could not broadcast a stop; the heartbeats will carry it: %s", error)
