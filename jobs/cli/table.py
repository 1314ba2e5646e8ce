"""Tables that line up on a terminal, Korean included. Pure.

What a tenant wrote stands in them; nothing of it may move the operator's cursor or colour the screen.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

GAP = "  "
NOTHING = "-"
# Control characters, and those that turn the direction of writing.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f]+")


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """One line for the headings and one for each row, without blanks at the ends."""
    shown = [list(headings), *([plain(cell) for cell in row] for row in rows)]
    widths = [max(map(width, column)) for column in zip(*shown, strict=True)]
    return [
        GAP.join(cell + " " * (room - width(cell)) for cell, room in zip(row, widths, strict=True)).rstrip()
        for row in shown
    ]


def pairs(found: Iterable[tuple[str, object]]) -> list[str]:
    """What something has, name by name, without what it has not."""
    shown = [(name, plain(value)) for name, value in found if value not in (None, "", [], {})]
    room = max((width(name) for name, _ in shown), default=0)
    return [f"{name}{' ' * (room - width(name))}{GAP}{value}" for name, value in shown]


def titled(title: str, lines: Sequence[str]) -> list[str]:
    """A part of a page, with its title; nothing when it has no lines."""
    return ["", title, *(GAP + line for line in lines)] if lines else []


def plain(value: object) -> str:
    """On one line, and harmless."""
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return harmless(str(value)).strip() or NOTHING


def harmless(text: str) -> str:
    return _UNSAFE.sub(" ", text)


def cut(text: str, most: int) -> str:
    text = plain(text)
    if width(text) <= most:
        return text
    kept = ""
    for letter in text:
        if width(kept + letter) > most - 1:
            break
        kept += letter
    return kept + "…"


def width(text: str) -> int:
    """In columns: a Korean letter takes two, an accent none."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )
