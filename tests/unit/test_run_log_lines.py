"""The lines of a run's log: how text becomes lines, and lines chunks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.run_logs.lines import (
    LOG,
    LONGEST_CHUNK,
    LONGEST_LINE,
    STDOUT,
    Line,
    LineSplitter,
    attempt_of,
    chunks,
    decode,
    encode,
    level_name,
    pieces,
    seq_of,
)


def split(*parts: str) -> list[str]:
    splitter = LineSplitter()
    return [line for part in parts for line in splitter.feed(part)] + splitter.flush()


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        (["one\ntwo\n"], ["one", "two"]),
        (["o", "ne\nt", "wo"], ["one", "two"]),
        (["a\r\nb\r", "\nc\r"], ["a", "b", "c"]),
        (["10 %\r20 %\r", "30 %\n"], ["10 %", "20 %", "30 %"]),
        (["\n\n"], ["", ""]),
        ([""], []),
    ],
)
def test_text_is_split_at_each_line_end(parts, lines):
    assert split(*parts) == lines


@given(st.lists(st.text("a\n\r")))
def test_the_parts_in_which_text_arrives_make_no_difference(parts):
    assert split(*parts) == split("".join(parts))


def test_a_long_line_is_cut_between_words():
    text = ("word " * LONGEST_LINE)[: 3 * LONGEST_LINE]
    cut = list(pieces(text))
    assert "".join(cut) == text
    assert max(map(len, cut)) <= LONGEST_LINE
    assert all(piece.endswith(" ") for piece in cut[:-1])
    assert split(*["x" * 1_000] * 100) == split("x" * 100_000)


def test_chunks_have_no_gaps_and_a_size():
    line = Line(1, 20, STDOUT, "", "x" * 1_000)
    numbered = [(number, line) for number in (1, 2, 3, 7, *range(8, 200))]
    made = list(chunks(3, numbered))
    assert (made[0].first, made[0].last) == (seq_of(3, 1), seq_of(3, 3))
    assert made[1].first == seq_of(3, 7)
    assert made[-1].last == seq_of(3, 199)
    assert max(chunk.size for chunk in made) <= LONGEST_CHUNK
    assert sum(len(decode(chunk.text)) for chunk in made) == len(numbered)
    assert {attempt_of(chunk.first) for chunk in made} == {3}


def test_a_line_comes_back_as_it_was_except_for_what_no_database_stores():
    line = Line(5, 35, LOG, "앱", '두레 "quoted" \\ \u2028 \ud800')
    (read,) = decode(encode([line]))
    assert read == line._replace(message='두레 "quoted" \\ \u2028 ?')
    assert level_name(read.level) == "WARNING"
