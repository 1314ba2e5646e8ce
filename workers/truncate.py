"""Cuts text to fit the size limit of a result."""

import json
from collections.abc import Mapping

from django.conf import settings


def bytes_left(result: Mapping[str, object]) -> int:
    """The bytes of JSON that are left for one more text."""
    return max(0, int(settings.DURE_MAX_RESULT_BYTES) - _size(result) - 16)


def head(text: str, room: int) -> str:
    """The longest beginning that fits into `room` bytes of JSON."""
    return text[: _longest(text, room)]


def tail(text: str, room: int) -> str:
    """The longest end that fits into `room` bytes of JSON."""
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
