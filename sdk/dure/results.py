"""The result of a Task, as Dure stores it."""

import json
import re

from dure.failures import InvalidArgs

MAX_BYTES = 256 * 1024
# An even number of backslashes before it: an escape, not a text about one.
ESCAPED_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def encode_result(result: object, max_bytes: int = MAX_BYTES) -> str:
    """The result as JSON; raises InvalidArgs when it cannot be stored."""
    text = encode(result, "result")
    if len(text.encode()) > max_bytes:
        raise InvalidArgs(
            f"The result is larger than {max_bytes} bytes; write it to a file and return where it is."
        )
    return text


def encode(value: object, name: str) -> str:
    """The value as JSON; raises InvalidArgs when no database can store it. Errors call it by the name."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgs(f"The {name} is not JSON: {error}") from None
    if ESCAPED_NUL.search(text):
        raise InvalidArgs(f"The {name} holds a NUL character, which no database can store.")
    return text
