"""Cuts text so that a result that holds it stays within the size a result may have."""

import json
from collections.abc import Mapping

from django.conf import settings


def room_beside(result: Mapping[str, object]) -> int:
    """How many bytes of JSON are left for one more text."""
    return max(0, int(settings.DURE_MAX_RESULT_BYTES) - _size(result) - 16)


def head(text: str, room: int) -> str:
    """The longest beginning that takes no more bytes of JSON than this."""
    return text[: _longest(text, room)]


def tail(text: str, room: int) -> str:
    """The longest end that takes no more bytes of JSON than this."""
    return text[len(text) - _longest(text[::-1], room) :]


def _longest(text: str, room: int) -> int:
    if _size(text) <= room:
        return len(text)
    low, high = 0, min(len(text), room)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _size(text[:middle]) <= room else (low, middle - 1)
    return low


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())
