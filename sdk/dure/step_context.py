"""The context of a step queue, as Dure stores it after each operation."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dure.failures import InvalidArgs
from dure.results import MAX_BYTES, encode
from dure.step_run import StepRun


@contextmanager
def keep_context(
    step: StepRun, keep: Callable[[str | None], None], max_bytes: int = MAX_BYTES
) -> Iterator[None]:
    """Run an operation in this block. `keep` gets the context that it left as JSON, or None if unchanged.

    Raises InvalidArgs for a context that cannot be stored.
    """
    before = encode_context(step.context)
    try:
        yield
    except BaseException:
        # The rollback may need what the operation noted before it failed. Its own error is the one to report.
        try:
            keep(_encode_if_changed(step.context, before, max_bytes))
        except InvalidArgs as refused:
            step.logger.warning("%s The context stays as it was before the operation.", refused)
        raise
    keep(_encode_if_changed(step.context, before, max_bytes))


def encode_context(context: dict[str, Any]) -> str:
    text = encode(context, "context")
    if json.loads(text) != context:
        raise InvalidArgs(
            "The context is not JSON: it holds a tuple or a key that is not a string, which would change "
            "when it is stored."
        )
    return text


def _encode_if_changed(context: dict[str, Any], before: str, max_bytes: int) -> str | None:
    text = encode_context(context)
    if text == before:
        return None
    size = len(text.encode())
    if size > max_bytes:
        raise InvalidArgs(f"The context has {size:,} bytes; a queue's context has at most {max_bytes:,}.")
    return text
