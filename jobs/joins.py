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

from jobs import publish, redis
from jobs.publish import Send

log = logging.getLogger(__name__)

# The dispatch in the message of a join, which names its job: the Execution is made by its claim.
DISPATCH = 0
EPOCH = "dure:epoch"
PIPELINE = 1_000
# Celery's: how long sending a chord's body may take, and how long a sent chord is remembered.
CLAIM_SECONDS = 10
DONE_SECONDS = 300


def group(job: object) -> str:
    return f"join-{job}"


def seed(sizes: Iterable[tuple[object, int]]) -> bool:
    """Set the sizes of joins: what `backend.set_chord_size` writes, for many in one pipeline."""
    backend = current_app.backend
    expires = int(current_app.conf.result_chord_expires)
    pairs = list(sizes)
    try:
        for start in range(0, len(pairs), PIPELINE):
            with redis.circuit_breaker(), backend.client.pipeline(transaction=False) as pipe:
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
    """Count the chord parts `[join, dependency, position, role, task, level]` in one round trip.

    What `backend.on_chord_part_return` does for one part. The body of a chord whose last part this was is its
    job: a message to the job's own role, whose claim releases it.
    """
    try:
        with redis.circuit_breaker():
            counted = _count(current_app.backend, parts)
        bodies = [
            Send(str(join), DISPATCH, role, task, level, 0)
            for (join, _, _, role, task, level), (ready, more, size, claimed) in zip(
                parts, counted, strict=True
            )
            if size and claimed and ready == int(size) + int(more or 0)
        ]
        if publish.send_messages(bodies):
            forget([send.execution for send in bodies])
    except Exception as error:  # the chord's own errors as well as Redis's: the sweep looks too
        log.warning("could not count a part of a join, the sweep will look: %s", error)


def _count(backend: Any, parts: Sequence[Sequence[Any]]) -> list[Any]:
    with backend.client.pipeline(transaction=False) as pipe:
        for join, parent, position, *_ in parts:
            # Always a success: PostgreSQL decides what the dependency's end means.
            value = backend.encode([1, str(parent), states.SUCCESS, None])
            backend._chord_part_return_script(
                keys=[
                    backend.get_key_for_group(group(join), key) for key in (".j", ".t", ".s", ".d", "", ".c")
                ],
                args=[
                    str(parent),
                    value,
                    1,
                    position,
                    int(backend.chord_expires or 0),
                    int(backend._chord_result_expires),
                    CLAIM_SECONDS,
                    uuid.uuid4().hex,
                ],
                client=pipe,
            )
        return list(pipe.execute())


def forget(jobs: Sequence[str]) -> None:
    """Delete the keys of joins whose job has been sent; until they expire a late part changes nothing."""
    if not jobs:
        return
    backend = current_app.backend
    with redis.circuit_breaker(), backend.client.pipeline(transaction=False) as pipe:
        for job in jobs:
            name = group(job)
            pipe.delete(*(backend.get_key_for_group(name, key) for key in (".c", ".j", ".t", ".s")))
            pipe.set(backend.get_key_for_group(name, ".d"), 1, ex=DONE_SECONDS)
        pipe.execute()


def epoch_is_lost() -> bool:
    """Whether Redis has lost the joins. True once, for the first caller, which sets the mark again."""
    try:
        return bool(redis.client().set(EPOCH, uuid.uuid4().hex, nx=True))
    except redis.ERRORS:
        return False
