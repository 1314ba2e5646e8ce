"""Tables of the commands: they line up, and nothing in them reaches the operator's terminal as a command."""

from argparse import ArgumentTypeError
from datetime import UTC, datetime, timedelta

import pytest

from jobs.cli import times
from jobs.cli.command import no_longer_than, one_of, whole_number
from jobs.cli.table import cut, harmless, pairs, plain, table, titled, width

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


def test_columns_line_up_with_korean_in_them():
    lines = table(("NAME", "N"), [("야간 백업", 1), ("cafe\u0301", 20)])
    assert lines == ["NAME       N", "야간 백업  1", "cafe\u0301       20"]
    assert {width(line[: line.rindex(" ") + 1]) for line in lines} == {11}


def test_what_is_nothing_is_shown_as_nothing():
    assert table(("A", "B", "C"), [(None, "", False)])[1] == "-  -  no"
    assert pairs([("ref", ""), ("task", "demo.sum"), ("error", None)]) == ["task  demo.sum"]
    assert titled("runs", []) == []
    assert titled("runs", ["one"]) == ["", "runs", "  one"]


@pytest.mark.parametrize("text", ["a\x1b[31mb", "a\nb", "a\rb", "a\u202eb", "a\x9bb", "a\u2028b", "a\u200fb"])
def test_no_text_moves_the_cursor_colours_the_screen_or_turns_the_line(text):
    for shown in (plain(text), harmless(text), table(("A",), [(text,)])[1]):
        assert shown.startswith("a ") and shown.endswith("b") and shown.isprintable()


def test_a_long_text_is_cut_to_columns_and_not_to_letters():
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
def test_since_takes_how_long_ago(text, before):
    assert times.since(NOW)(text) == NOW - before


def test_since_takes_a_date_and_a_time_of_seoul_unless_it_says_otherwise():
    assert times.since(NOW)("2026-11-30") == datetime(2026, 11, 29, 15, tzinfo=UTC)
    assert times.since(NOW)("2026-11-30T09:00") == datetime(2026, 11, 30, 0, tzinfo=UTC)
    assert times.since(NOW)("2026-11-30T09:00:00+00:00") == datetime(2026, 11, 30, 9, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "soon", "2x", "-2h", "2026-13-01", "999999w", "2026-02-30T09:00", "٢h"])
def test_since_refuses_what_is_no_time(text):
    with pytest.raises(ArgumentTypeError, match="is no time"):
        times.since(NOW)(text)


@pytest.mark.parametrize(
    "seconds, said",
    [
        (None, ""),
        (0, "0 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (61, "1 min 1 s"),
        (3600, "1 h"),
        (5400, "1 h 30 min"),
        (90_000, "1 d 1 h"),
        (-3, "0 s"),
    ],
)
def test_a_duration_is_told_in_its_two_larger_figures(seconds, said):
    assert times.duration(seconds) == said


def test_ids_of_rows_made_since_then_are_not_below_the_first():
    from jobs.ids import uuid7

    assert times.first_id_since(datetime.now(UTC)) < uuid7()
    assert times.first_id_since(datetime.now(UTC) + timedelta(hours=2)) > uuid7()


def test_words_are_taken_in_any_case_several_at_once_and_unknown_ones_are_named():
    words = one_of(["FE", "BE", "default"])
    assert words("fe, Default") == ["FE", "default"]
    with pytest.raises(ArgumentTypeError, match="'XX' is none of FE, BE, default"):
        words("FE,XX")


def test_numbers_and_texts_have_their_limits():
    assert whole_number(1, 10)("10") == 10
    for text in ("0", "11", "x", ""):
        with pytest.raises(ArgumentTypeError):
            whole_number(1, 10)(text)
    assert no_longer_than(3)("abc") == "abc"
    with pytest.raises(ArgumentTypeError, match="3 are the most"):
        no_longer_than(3)("abcd")
