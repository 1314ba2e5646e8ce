"""Texts made short, and safe to show: for a terminal, a page or a log."""

import re
import unicodedata
from typing import Any

# Control characters, and those that change the direction of writing.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f]+")
# Colours and cursor movements, then every other control character but tab and line feed.
_UNPRINTABLE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def on_one_line(text: str) -> str:
    """The text for a terminal, without characters that move the cursor or change colours or direction."""
    return _UNSAFE.sub(" ", text)


def printable(text: str) -> str:
    """The output of a program for a page, without control characters of terminals."""
    return _UNPRINTABLE.sub("", text.replace("\r\n", "\n"))


def first_line(problem: object) -> str:
    """The first line of a text, or of an error, which is the name of its type if it has no text."""
    lines = str(problem).strip().splitlines()
    return lines[0].rstrip() if lines else "" if isinstance(problem, str) else type(problem).__name__


def width(text: str) -> int:
    """The width in columns of a terminal: a Korean letter takes two, an accent none."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def truncate(text: str, most: int) -> str:
    """The text cut to this many columns, with an ellipsis if it is longer."""
    if width(text) <= most:
        return text
    kept = ""
    for letter in text:
        if width(kept + letter) > most - 1:
            break
        kept += letter
    return kept + "…"


def short_id(value: Any) -> str:
    """The end of a long id, since the beginning of a UUIDv7 is a time that neighbours share."""
    text = str(value)
    return text if len(text) < 20 else f"…{text[-8:]}"
