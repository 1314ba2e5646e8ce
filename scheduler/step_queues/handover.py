"""Hands the context from an operation to the transaction that reports its end, in the same thread.

It is no part of the operation's result, which is kept for ever and has a size of its own, and a failure
has no result at all. Where somebody else reports the end, because the process died, there is nothing to
hand over: the context is then what it was before the operation.
"""

import threading

_left = threading.local()


def leave(execution_id: str, context: str | None) -> None:
    """The context as JSON after an operation; None where it has not changed."""
    _left.found = (execution_id, context)


def left_by(execution_id: str) -> str | None:
    """May be asked twice: a transaction that the database broke off is tried again."""
    owner, context = getattr(_left, "found", ("", None))
    return context if owner == execution_id else None
