"""Tables of the commands are aligned, and their texts cannot control the terminal."""

from argparse import ArgumentTypeError
from datetime import UTC, datetime, timedelta

import pytest

from jobs.cli.command import limited_text, one_of, whole_number
from jobs.cli.filters import first_id_since, since
from jobs.cli.format import cut, pairs, plain, section, table
from jobs.ids import uuid7
from jobs.texts import on_one_line, width

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


def test_columns_line_up_with_korean_in_them():
    lines = table(("NAME", "N"), [("야간 백업", 1), ("cafe\u0301", 20)])
    assert lines == ["NAME       N", "야간 백업  1", "cafe\u0301       20"]
    assert {width(line[: line.rindex(" ") + 1]) for line in lines} == {11}


def test_empty_values_are_a_dash_or_left_out():
    assert table(("A", "B", "C"), [(None, "", False)])[1] == "-  -  no"
    assert pairs([("ref", ""), ("task", "demo.sum"), ("error", None)]) == ["task  demo.sum"]
    assert section("runs", []) == []
    assert section("runs", ["one"]) == ["", "runs", "  one"]


@pytest.mark.parametrize("text", ["a\x1b[31mb", "a\nb", "a\rb", "a\u202eb", "a\x9bb", "a\u2028b", "a\u200fb"])
def test_a_text_cannot_move_the_cursor_or_color_the_screen(text):
    for cleaned in (plain(text), on_one_line(text), table(("A",), [(text,)])[1]):
        assert cleaned.startswith("a ") and cleaned.endswith("b") and cleaned.isprintable()


def test_a_long_text_is_cut_to_columns():
    assert cut("demo.sum", 8) == "demo.sum"
    assert cut("demo.sleep", 8) == "demo.sl…"
    assert cut("가나다라마", 8) == "가나다…"
    assert width(cut("가나다라마", 8)) <= 8


@pytest.mark.parametrize(
    "text, before",
    [
        ("90s", timedelta(seconds=90)),
        ("30m", timedelta(minutes=30)),
        ("2H", timedelta(hours=2)),
        ("7d", timedelta(days=7)),
        ("1w", timedelta(weeks=1)),
    ],
)
def test_since_accepts_a_time_ago(text, before):
    assert since(NOW)(text) == NOW - before


def test_since_accepts_a_date_and_a_time_in_the_local_zone_or_its_own():
    assert since(NOW)("2026-11-30") == datetime(2026, 11, 29, 15, tzinfo=UTC)
    assert since(NOW)("2026-11-30T09:00") == datetime(2026, 11, 30, 0, tzinfo=UTC)
    assert since(NOW)("2026-11-30T09:00:00+00:00") == datetime(2026, 11, 30, 9, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "soon", "2x", "-2h", "2026-13-01", "999999w", "2026-02-30T09:00", "٢h"])
def test_since_refuses_other_texts(text):
    with pytest.raises(ArgumentTypeError, match="is no time"):
        since(NOW)(text)


def test_the_ids_of_rows_created_since_then_are_above_the_first():
    assert first_id_since(datetime.now(UTC)) < uuid7()
    assert first_id_since(datetime.now(UTC) + timedelta(hours=2)) > uuid7()


def test_an_option_of_words_accepts_several_in_any_case_and_names_an_unknown_one():
    words = one_of(["FE", "BE", "default"])
    assert words("fe, Default") == ["FE", "default"]
    with pytest.raises(ArgumentTypeError, match="'XX' is none of FE, BE, default"):
        words("FE,XX")


def test_options_of_numbers_and_texts_have_limits():
    assert whole_number(1, 10)("10") == 10
    for text in ("0", "11", "x", ""):
        with pytest.raises(ArgumentTypeError):
            whole_number(1, 10)(text)
    assert limited_text(3)("abc") == "abc"
    with pytest.raises(ArgumentTypeError, match="more than 3"):
        limited_text(3)("abcd")
