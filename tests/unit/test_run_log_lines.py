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
    long = split("x" * 100_000)
    assert max(map(len, long)) <= LONGEST_LINE
    assert split(*["x" * 1_000] * 100) == long


def test_chunks_have_no_gaps_and_a_size():
    new = [(1.5, 20, STDOUT, "", "x" * 1_000)] * 100 + [(1.5, 40, LOG, "app", "x" * 2 * LONGEST_CHUNK)]
    made = list(chunks(3, 7, new))
    assert (made[0].first, made[-1].last) == (seq_of(3, 7), seq_of(3, 107))
    assert [chunk.first for chunk in made[1:]] == [chunk.last + 1 for chunk in made[:-1]]
    assert max(chunk.size for chunk in made[:-1]) <= LONGEST_CHUNK
    assert [chunk.level for chunk in made] == [20] * (len(made) - 1) + [40]
    assert [line.message for chunk in made for line in decode(chunk.text)] == [line[4] for line in new]
    assert [len(decode(chunk.text)) for chunk in made] == [chunk.last - chunk.first + 1 for chunk in made]
    assert {attempt_of(chunk.first) for chunk in made} == {3}


def test_lines_come_back_as_they_were_except_for_what_no_database_stores():
    text = '두레 "quoted" \\ \u2028 \ud800'
    new = [
        (5.001, 35, LOG, "앱", text),
        (5.0, 35, LOG, "앱", "a thread was faster"),
        (5.25, 20, STDOUT, "", ""),
        (6.0, 35, LOG, "앱", "again"),
    ]
    read = decode(encode(new))
    assert read == [
        Line(5001, 35, LOG, "앱", text.replace("\ud800", "?")),
        Line(5000, 35, LOG, "앱", "a thread was faster"),
        Line(5250, 20, STDOUT, "", ""),
        Line(6000, 35, LOG, "앱", "again"),
    ]
    assert level_name(read[0].level) == "WARNING"
