"""The estimated width of a text in a drawing, so that it is cut to its box in any script. Pure functions."""

import unicodedata

# The width of a letter in thousandths of the font size, for the wider of the common system fonts.
NARROW, MEDIUM, BROAD, FULL = 330, 620, 800, 1_000
NARROW_LETTERS = frozenset("fijlrtI .,:;'|!()[]/\\-")
BROAD_LETTERS = frozenset("mwMWOQGD@%&")
ELLIPSIS = "…"


def text_width(text: str, size: int) -> int:
    """In pixels, rounded up; rather too wide than too narrow."""
    return -(-sum(map(_letter_width, text)) * size // 1_000)


def cut(text: str, size: int, room: int) -> str:
    """The text, or as much of its beginning as the room holds with an ellipsis."""
    if text_width(text, size) <= room:
        return text
    left = room * 1_000 // size - FULL
    for place, letter in enumerate(text):
        left -= _letter_width(letter)
        if left < 0:
            return text[:place].rstrip() + ELLIPSIS
    return text


def _letter_width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    if unicodedata.east_asian_width(letter) in "WF":
        return FULL
    if letter in NARROW_LETTERS:
        return NARROW
    # Letters of unknown width, such as emoji without a width of their own, count as broad.
    return BROAD if letter in BROAD_LETTERS or letter.isupper() or not letter.isascii() else MEDIUM
