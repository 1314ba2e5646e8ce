"""Parses JSON that PostgreSQL and every client can store, and reports the exact problem otherwise.

Python's parser accepts NaN, numbers beyond 64 bits, duplicate keys, NUL characters and lone surrogates
(PostgreSQL rejects both), and nesting that ends in a RecursionError. The structure is traversed only if the
text gives a reason.
"""

import json
import math
import re
from typing import Any

from jobs.errors import CodedError

DEEPEST = 32
LOWEST, HIGHEST = -(2**63), 2**63 - 1

_ODD_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_LONG_NUMBER = re.compile(r"[0-9]{19}")
_ODD_CHARACTER = re.compile("[\x00\ud800-\udfff]")


class InvalidJSON(CodedError, ValueError):
    """The text is not JSON that this API accepts."""


def loads(raw: bytes) -> Any:
    text = _decode(raw)
    value = _parse(text)
    if text.count("[") + text.count("{") > DEEPEST:
        _refuse_deep(value)
    if _ODD_ESCAPE.search(text):
        _refuse_odd_characters(value)
    return value


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidJSON("json_not_utf8", byte=error.start) from None


def _parse(text: str) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_float=_number,
            # This hook is slow, and short integers cannot be out of range.
            parse_int=_integer if _LONG_NUMBER.search(text) else None,
            parse_constant=_refuse_constant,
        )
    except RecursionError:
        raise InvalidJSON("json_too_deep", limit=DEEPEST) from None
    except json.JSONDecodeError as error:
        raise InvalidJSON("json_syntax", reason=error.msg, line=error.lineno, column=error.colno) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InvalidJSON("json_key_twice", key=_display(twice))
    return value


def _integer(text: str) -> int:
    # Twenty characters hold every 64-bit integer; int() of a long text is slow or fails.
    number = int(text) if len(text) <= 20 else None
    if number is None or not LOWEST <= number <= HIGHEST:
        raise InvalidJSON("json_number_64_bits", number=_display(text, quote=""))
    return number


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InvalidJSON("json_number_too_large", number=_display(text, quote=""))
    return number


def _refuse_constant(text: str) -> None:
    raise InvalidJSON("json_constant", text=text)


def _refuse_deep(value: Any) -> None:
    level, containers = 0, [value] if isinstance(value, (list, dict)) else []
    while containers:
        level += 1
        if level > DEEPEST:
            raise InvalidJSON("json_too_deep", limit=DEEPEST)
        containers = [
            child
            for container in containers
            for child in (container.values() if isinstance(container, dict) else container)
            if isinstance(child, (list, dict))
        ]


def _refuse_odd_characters(value: Any, where: str = "the body") -> None:
    if isinstance(value, str):
        if odd := _ODD_CHARACTER.search(value):
            raise InvalidJSON("json_nul" if odd[0] == "\0" else "json_surrogate", place=where)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            _refuse_odd_characters(item, f"{where}[{position}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_odd_characters(key, f"a key of {where}")
            _refuse_odd_characters(item, f"{where}.{_display(key, quote='')}")


def _display(text: str, quote: str = '"') -> str:
    short = text if len(text) <= 40 else text[:37] + "…"
    return quote + short.encode("utf-8", "replace").decode() + quote
