"""What has to follow a commit: messages, chord parts, stops and pub/sub messages.

All of it may be lost, at any point, and come twice: a sweep does again what matters.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from celery import current_app
from django.db import transaction

from jobs import joins, publish, pubsub

log = logging.getLogger(__name__)


def after(answer: Mapping[str, Any] | None) -> None:
    """Once the transaction has committed, do what the engine's answer says is left to do."""
    if answer:
        transaction.on_commit(lambda: follow(answer))


def follow(answer: Mapping[str, Any]) -> None:
    publish.messages(answer.get("send") or ())
    if answer.get("parts"):
        joins.count(answer["parts"])
    if answer.get("signal"):
        stop_runs([execution for execution, *_ in answer["signal"]])
    if answer.get("ring"):
        pubsub.publish_change(answer["ring"])
    if answer.get("notify"):
        pubsub.request_notifications(answer["notify"])


def stop_runs(executions: Sequence[str]) -> None:
    """Tell the workers at once. One that does not hear it is told by its next heartbeat."""
    try:
        current_app.control.broadcast("dure_stop", arguments={"executions": list(executions)})
    except Exception as error:  # whatever the broker's client raises
        log.warning("could not broadcast a stop, the heartbeats will bring it: %s", error)
