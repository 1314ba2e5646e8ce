"""The result of a Task, as Dure stores it."""

import json
import re

from dure.failures import InvalidArgs

MAX_BYTES = 256 * 1024
# An even number of backslashes before it: an escape, not a text about one.
ESCAPED_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def encode_result(result: object, max_bytes: int = MAX_BYTES) -> str:
    """The result as JSON; raises InvalidArgs when it cannot be stored."""
    try:
        text = json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgs(f"The result is not JSON: {error}") from None
    if size > max_bytes:
        raise InvalidArgs(
            f"The result is larger than {max_bytes} bytes; write it to a file and return where it is."
        )
    if ESCAPED_NUL.search(text):
        raise InvalidArgs("The result holds a NUL character, which no database can store.")
    return text
