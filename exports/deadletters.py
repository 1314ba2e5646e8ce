"""Messages that cannot be parsed or applied: stored as rows and sent to `job.deadletter`, never lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.timezone import localtime

from exports import outbox, sql
from exports.messages import DEADLETTER, sanitized_copy
from exports.models import DeadLetter
from exports.streams import Entry
from jobs.errors import Conflict
from jobs.sql import call


@dataclass(frozen=True, slots=True)
class DeadLetterIn:
    entry: Entry
    reason: str


def dead_letter(messages: Sequence[DeadLetterIn], now: datetime) -> int:
    """Stores the messages that are not stored yet, and answers how many those were.

    Runs inside the transaction that applies the rest of the batch.
    """
    if not messages:
        return 0
    rows = {}
    for message in messages:
        entry = message.entry
        fields, whole = sanitized_copy(entry.raw or {})
        rows[entry.stream, entry.id] = {
            "source_stream": entry.stream,
            "source_id": entry.id,
            "fields": fields,
            "whole": whole,
            "reason": message.reason[:500],
        }
    new = call.rows(sql.INSERT_DEAD_LETTERS, {"rows": call.as_json(list(rows.values())), "now": now})
    outbox.put(((DEADLETTER, _as_message(rows[stream, own_id], now)) for stream, own_id in new), now)
    return len(new)


def _as_message(row: dict[str, Any], now: datetime) -> dict[str, str]:
    return {
        **row["fields"],
        "sourceStream": row["source_stream"],
        "sourceId": row["source_id"],
        "reason": row["reason"],
        "failedAt": localtime(now).isoformat(),
    }


def republish(letter_id: int, by: User, now: datetime) -> DeadLetter:
    """Sends the message to its stream again. Its jobId is the same, so it takes effect at most once."""
    with transaction.atomic():
        letter = _lock_open(letter_id)
        if not letter.whole:
            raise Conflict("not_whole")
        outbox.put([(letter.source_stream, letter.fields)], now)
        return _close(letter, DeadLetter.State.REPUBLISHED, by, now)


def discard(letter_id: int, by: User, now: datetime) -> DeadLetter:
    with transaction.atomic():
        return _close(_lock_open(letter_id), DeadLetter.State.DISCARDED, by, now)


def _lock_open(letter_id: int) -> DeadLetter:
    letter = DeadLetter.objects.select_for_update().get(pk=letter_id)
    if letter.state != DeadLetter.State.OPEN:
        raise Conflict("already_handled")
    return letter


def _close(letter: DeadLetter, state: DeadLetter.State, by: User, now: datetime) -> DeadLetter:
    letter.state, letter.handled_by, letter.handled_at = state, by, now
    letter.save(update_fields=["state", "handled_by", "handled_at"])
    return letter
