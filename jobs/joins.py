"""Joins as Celery chords: a job with several dependencies is the body of a chord over their runs.

The chord only tells *when to look*; PostgreSQL decides whether the job may start. So a part that is lost,
counted twice or late costs time and nothing else: the sweep looks too, and seeds all joins again when Redis
has lost its data (`epoch_is_lost`).

A part's id is the dependency's job id, never an attempt's: the same edge under another id would be counted
twice, and the body would be sent too early.
"""

import logging
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from celery import current_app, states
from celery.app.task import Context as CeleryContext
from django.conf import settings

from jobs import redis

log = logging.getLogger(__name__)

RELEASE = "dure.release"
EPOCH = "dure:epoch"
PIPELINE = 1_000


def group(job: object) -> str:
    return f"join-{job}"


def body(job: object) -> dict[str, Any]:
    """The chord's body: an immutable, idempotent release of the job on the control queue."""
    return dict(
        current_app.signature(
            RELEASE, args=(str(job),), immutable=True, queue=settings.DURE_CONTROL_QUEUE, ignore_result=True
        )
    )


def seed(sizes: Iterable[tuple[object, int]]) -> bool:
    """Set the sizes of joins: what `backend.set_chord_size` writes, for many in one pipeline."""
    backend = current_app.backend
    expires = int(current_app.conf.result_chord_expires)
    pairs = list(sizes)
    try:
        for start in range(0, len(pairs), PIPELINE):
            with redis.answering(), backend.client.pipeline(transaction=False) as pipe:
                for job, size in pairs[start : start + PIPELINE]:
                    name = group(job)
                    pipe.delete(backend.get_key_for_group(name, ".c"))
                    pipe.set(backend.get_key_for_group(name, ".s"), size, ex=expires)
                pipe.execute()
    except redis.ERRORS as error:
        log.warning("could not seed %s joins, the sweep will: %s", len(pairs), error)
        return False
    return True


def count(parts: Sequence[Sequence[Any]]) -> None:
    """Return the chord part of each `[join, dependency, position]`; the last one sends the body."""
    backend = current_app.backend
    try:
        with redis.answering():
            for join, parent, position in parts:
                request = CeleryContext(
                    {
                        "id": str(parent),
                        "group": group(join),
                        "group_index": position,
                        "chord": body(join),
                        "root_id": str(join),
                    }
                )
                # Always a success: PostgreSQL decides what the dependency's end means.
                backend.on_chord_part_return(request, states.SUCCESS, None)
    except Exception as error:  # the chord's own errors as well as Redis's: the sweep looks too
        log.warning("could not count a part of a join, the sweep will look: %s", error)


def epoch_is_lost() -> bool:
    """Whether Redis has lost the joins. True once, for the first caller, which sets the mark again."""
    try:
        return bool(redis.client().set(EPOCH, uuid.uuid4().hex, nx=True))
    except redis.ERRORS:
        return False
