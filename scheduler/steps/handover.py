"""Hands what an operation saw and left to the transaction that reports its end, in the same thread.

The context is no part of the operation's result, which is kept for ever and has a size of its own, and a
failure has no result at all. Where somebody else reports the end, because the process died, there is
nothing to hand over: the context is then what it was before the operation.
"""

import threading
from dataclasses import dataclass
from typing import Any


@dataclass
class Handover:
    """`walk` is how the queue stood as the operation began, `context` what it left, if that is another."""

    execution_id: str
    walk: dict[str, Any]
    context: str | None = None


_here = threading.local()


def begin(execution_id: str, walk: dict[str, Any]) -> Handover:
    _here.found = Handover(execution_id, walk)
    return _here.found  # type: ignore[no-any-return]


def of(execution_id: str) -> Handover | None:
    """May be asked twice: a transaction that the database broke off is tried again."""
    found: Handover | None = getattr(_here, "found", None)
    return found if found is not None and found.execution_id == execution_id else None
