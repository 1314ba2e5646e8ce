"""Reads JSON that PostgreSQL and every client can take, and says exactly what is wrong with the rest.

Python's own reader lets through what bites later: NaN, numbers beyond 64 bit, duplicate keys, NUL
characters and lone surrogates (PostgreSQL refuses both), and nesting that ends in a RecursionError.
The whole structure is only walked for what the text gives reason to look for.
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


class BadJSON(CodedError, ValueError):
    """The text is not JSON that this API takes."""


def loads(raw: bytes) -> Any:
    text = _decoded(raw)
    value = _parsed(text)
    if text.count("[") + text.count("{") > DEEPEST:
        _refuse_deep(value)
    if _ODD_ESCAPE.search(text):
        _refuse_odd_characters(value)
    return value


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadJSON("json_not_utf8", byte=error.start) from None


def _parsed(text: str) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_float=_number,
            # Asked for each integer this hook is slow, and short ones cannot be out of range.
            parse_int=_integer if _LONG_NUMBER.search(text) else None,
            parse_constant=_refuse_constant,
        )
    except RecursionError:
        raise BadJSON("json_too_deep", limit=DEEPEST) from None
    except json.JSONDecodeError as error:
        raise BadJSON("json_syntax", reason=error.msg, line=error.lineno, column=error.colno) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise BadJSON("json_key_twice", key=_shown(twice))
    return found


def _integer(text: str) -> int:
    # Twenty characters hold every 64-bit integer; int() of a long text would cost a lot or fail.
    number = int(text) if len(text) <= 20 else None
    if number is None or not LOWEST <= number <= HIGHEST:
        raise BadJSON("json_number_64_bits", number=_shown(text, quote=""))
    return number


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise BadJSON("json_number_too_large", number=_shown(text, quote=""))
    return number


def _refuse_constant(text: str) -> None:
    raise BadJSON("json_constant", text=text)


def _refuse_deep(value: Any) -> None:
    level, containers = 0, [value] if isinstance(value, (list, dict)) else []
    while containers:
        level += 1
        if level > DEEPEST:
            raise BadJSON("json_too_deep", limit=DEEPEST)
        containers = [
            child
            for container in containers
            for child in (container.values() if isinstance(container, dict) else container)
            if isinstance(child, (list, dict))
        ]


def _refuse_odd_characters(value: Any, where: str = "the body") -> None:
    if isinstance(value, str):
        if odd := _ODD_CHARACTER.search(value):
            raise BadJSON("json_nul" if odd[0] == "\0" else "json_surrogate", place=where)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            _refuse_odd_characters(item, f"{where}[{position}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_odd_characters(key, f"a key of {where}")
            _refuse_odd_characters(item, f"{where}.{_shown(key, quote='')}")


def _shown(text: str, quote: str = '"') -> str:
    short = text if len(text) <= 40 else text[:37] + "…"
    return quote + short.encode("utf-8", "replace").decode() + quote
