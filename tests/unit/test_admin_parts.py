"""The parser of the admin's search box."""

from uuid import UUID

import pytest

from jobs.admin.search import as_id, ids_from

ID = UUID("0199f3ab-1234-7abc-8000-0123456789ab")


@pytest.mark.parametrize(
    "text, kind, expected",
    [
        (str(ID), "UUIDField", ID),
        (ID.hex.upper(), "UUIDField", ID),
        ("0199", "UUIDField", None),
        ("17", "BigAutoField", 17),
        ("17", "BigIntegerField", 17),
        ("17", "CharField", None),
        ("١٧", "BigAutoField", None),
        ("9" * 19, "BigAutoField", None),
        (str(ID), "BigAutoField", None),
    ],
)
def test_a_search_term_is_read_as_an_id_of_its_column(text, kind, expected):
    assert as_id(text, kind) == expected


def test_the_beginning_of_an_id_selects_a_range():
    first, last = ids_from("0199f3ab-12") or (None, None)
    assert (str(first), str(last)) == (
        "0199f3ab-1200-0000-0000-000000000000",
        "0199f3ab-12ff-ffff-ffff-ffffffffffff",
    )
    assert first <= ID <= last


@pytest.mark.parametrize("text", ["0199f3a", "build 12345", "xyzxyzxyz", str(ID), "--------", ""])
def test_a_word_or_a_short_beginning_selects_no_range(text):
    assert ids_from(text) is None
