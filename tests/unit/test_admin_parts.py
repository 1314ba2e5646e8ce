"""What the admin reads from search boxes and forms, without a database."""

from uuid import UUID

import pytest

from jobs.admin.search import as_id, ids_from
from jobs.pages.secrets import HIDDEN, hidden, restored, still_hides

ID = UUID("0199f3ab-1234-7abc-8000-0123456789ab")


@pytest.mark.parametrize(
    "text, kind, found",
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
def test_an_id_is_read_as_its_column_has_it(text, kind, found):
    assert as_id(text, kind) == found


def test_the_beginning_of_an_id_is_a_span():
    first, last = ids_from("0199f3ab-12") or (None, None)
    assert (str(first), str(last)) == (
        "0199f3ab-1200-0000-0000-000000000000",
        "0199f3ab-12ff-ffff-ffff-ffffffffffff",
    )
    assert first <= ID <= last


@pytest.mark.parametrize("text", ["0199f3a", "build 12345", "xyzxyzxyz", str(ID), "--------", ""])
def test_a_word_or_too_little_of_an_id_is_no_span(text):
    assert ids_from(text) is None


def test_what_was_hidden_comes_back_where_it_stood():
    before = {"url": "a", "token": "hush", "deep": [{"password": "p", "x": 1}]}
    shown = hidden(before)
    assert restored(shown, before) == before
    assert restored({**shown, "url": "b"}, before) == {**before, "url": "b"}
    assert restored({"token": "new"}, before) == {"token": "new"}


def test_what_was_hidden_follows_a_ref_and_is_missed_elsewhere():
    before = [{"ref": "a", "token": "1"}, {"ref": "b", "token": "2"}]
    assert restored(hidden(before)[::-1], before) == before[::-1]
    assert still_hides(restored([{"ref": "c", "token": HIDDEN}], before))
    assert still_hides(restored({"other": HIDDEN}, {"token": "1"}))
    assert not still_hides(restored(hidden(before), before))
