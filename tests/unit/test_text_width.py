"""Texts in drawings are cut by their width, not by their number of letters."""

import pytest

from jobs.pages.text_width import cut, text_width

ROOM, SIZE = 148, 12


@pytest.mark.parametrize("letter", ["가", "Ж", "W", "i", "7", "漢"])
def test_a_cut_text_fits_its_room_in_any_script(letter):
    text = cut(letter * 200, SIZE, ROOM)
    assert text.endswith("…")
    assert text_width(text, SIZE) <= ROOM
    assert text_width(text[:-1] + letter * 2 + "…", SIZE) > ROOM


def test_a_short_text_is_kept():
    assert cut("nightly import 17", SIZE, ROOM) == "nightly import 17"
    assert cut("", SIZE, ROOM) == ""


def test_hangul_is_wider_than_latin_and_marks_have_no_width():
    assert text_width("가나다라", SIZE) == 4 * SIZE > text_width("abcd", SIZE)
    assert text_width("e\u0301", SIZE) == text_width("e", SIZE)
