"""Messages that could not be understood or applied: kept as rows, told to `job.deadletter`, never lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from exports import outbox, sql
from exports.messages import DEADLETTER, Fields, keepsake
from exports.models import DeadLetter
from jobs.errors import Conflict
from jobs.sql import call


@dataclass(frozen=True, slots=True)
class Letter:
    source_stream: str
    source_id: str
    raw: Fields
    reason: str


def bury(letters: Sequence[Letter], now: datetime) -> int:
    """Inside the transaction of what the others of their batch did. How many were new."""
    if not letters:
        return 0
    by_source = {(letter.source_stream, letter.source_id): letter for letter in letters}
    kept = {source: keepsake(letter.raw) for source, letter in by_source.items()}
    rows = [
        {
            "source_stream": stream,
            "source_id": own_id,
            "fields": kept[stream, own_id][0],
            "whole": kept[stream, own_id][1],
            "reason": letter.reason[:500],
        }
        for (stream, own_id), letter in by_source.items()
    ]
    new = call.rows(sql.INSERT_LETTERS, {"letters": call.as_json(rows), "now": now})
    outbox.put(
        (
            (
                DEADLETTER,
                {
                    **kept[source][0],
                    "sourceStream": source[0],
                    "sourceId": source[1],
                    "reason": by_source[source].reason[:500],
                    "failedAt": now.isoformat(),
                },
            )
            for source in new
        ),
        now,
    )
    return len(new)


def republish(letter_id: int, by: User, now: datetime) -> DeadLetter:
    """Send it again as it was: the jobId in it is the same, so it has one effect at most."""
    with transaction.atomic():
        letter = _take(letter_id)
        if not letter.whole:
            raise Conflict("The message was cut when it was kept; it cannot be sent again.", code="not_whole")
        outbox.put([(letter.source_stream, letter.fields)], now)
        return _close(letter, DeadLetter.State.REPUBLISHED, by, now)


def discard(letter_id: int, by: User, now: datetime) -> DeadLetter:
    with transaction.atomic():
        return _close(_take(letter_id), DeadLetter.State.DISCARDED, by, now)


def _take(letter_id: int) -> DeadLetter:
    letter = DeadLetter.objects.select_for_update().get(pk=letter_id)
    if letter.state != DeadLetter.State.OPEN:
        raise Conflict(f"The message was {letter.state} already.", code="already_handled")
    return letter


def _close(letter: DeadLetter, state: DeadLetter.State, by: User, now: datetime) -> DeadLetter:
    letter.state, letter.handled_by, letter.handled_at = state, by, now
    letter.save(update_fields=["state", "handled_by", "handled_at"])
    return letter
