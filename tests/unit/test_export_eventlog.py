"""The event log: its format, and the report of each mistake with its line."""

import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exports import eventlog, sample_replay
from exports.eventlog import Record, read
from exports.failures import BadReplay

HEADER = {
    "format": "dure-replay/1",
    "title": "결승",
    "size": [100, 50],
    "tickRate": 10,
    "players": [{"id": "a", "name": "민준"}, {"id": "b"}],
}


def log(*lines: object, header: object = HEADER) -> io.BytesIO:
    return io.BytesIO(
        "\n".join(x if isinstance(x, str) else json.dumps(x) for x in (header, *lines)).encode()
    )


def all_records(source: io.BytesIO) -> list[Record]:
    return list(read(source)[1])


def test_the_header_is_read_with_its_defaults() -> None:
    header, _ = read(log())
    assert (header.title, header.width, header.height, header.tick_rate) == ("결승", 100.0, 50.0, 10)
    assert header.players["b"].name == "b"
    assert header.players["a"].color != header.players["b"].color


def test_a_player_without_a_color_has_that_of_the_team() -> None:
    teams = [{"id": "red", "color": "#ff0000"}]
    players = [{"id": "a", "team": "red"}, {"id": "b", "team": "red", "color": "#00ff00"}]
    header, _ = read(log(header=HEADER | {"teams": teams, "players": players}))
    assert [player.color for player in header.players.values()] == ["#ff0000", "#00ff00"]


def test_records_hold_positions_events_or_both() -> None:
    records = all_records(
        log(
            {"tick": 0, "positions": {"a": [1, 2.5]}},
            "",
            {
                "tick": 3,
                "event": "goal",
                "text": "골!",
                "player": "a",
                "score": {"a": 1},
                "positions": {"b": [0, 0]},
            },
        )
    )
    assert records[0] == Record(0, {"a": (1, 2.5)})
    assert records[1] == Record(3, {"b": (0, 0)}, "goal", "골!", "a", {"a": 1})


def test_a_byte_order_mark_and_windows_line_ends_are_no_harm() -> None:
    source = io.BytesIO(b"\xef\xbb\xbf" + log({"tick": 1, "event": "x"}).getvalue().replace(b"\n", b"\r\n"))
    assert len(all_records(source)) == 1


def test_line_breaks_in_a_text_become_spaces() -> None:
    assert all_records(log({"tick": 1, "event": "x", "text": "a\nb\x00\ud800"}))[0].text == "a b"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"format": "other"}, "format"),
        ({"title": 5}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"size": [100]}, "size"),
        ({"size": [0, 50]}, "size"),
        ({"size": [1, 50]}, "ten times"),
        ({"size": ["a", 50]}, "size"),
        ({"tickRate": 0}, "tickRate"),
        ({"tickRate": 30.5}, "tickRate"),
        ({"tickRate": True}, "tickRate"),
        ({"players": []}, "players"),
        ({"players": [{"id": f"p{n}"} for n in range(65)]}, "players"),
        ({"players": [{"id": "a"}, {"id": "a"}]}, "taken"),
        ({"players": [{"id": "a b"}]}, "id must be"),
        ({"players": [{"id": "a", "color": "red"}]}, "color"),
        ({"players": [{"id": "a", "team": "none"}]}, "no such team"),
        ({"players": [{"id": "a", "team": ["x"]}]}, "no such team"),
        ({"players": ["a"]}, "object"),
        ({"teams": {}}, "teams"),
    ],
)
def test_a_wrong_header_is_reported_with_its_field(changed: dict[str, object], message: str) -> None:
    with pytest.raises(BadReplay, match=message):
        read(log(header=HEADER | changed))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("not json", "Line 3: this is not JSON"),
        ("[" * 60_000, "Line 3: this is not JSON"),
        ("[]", "Line 3: must be a JSON object"),
        ({"tick": 1}, "positions or an event"),
        ({"tick": -1, "event": "x"}, "tick"),
        ({"tick": 1.5, "event": "x"}, "tick"),
        ({"tick": 2**60, "event": "x"}, "tick"),
        ({"tick": 10 * 4 * 3600 + 10, "event": "x"}, "longer than 240 minutes"),
        ({"tick": 0, "event": "x"}, "comes after tick 1"),
        ({"tick": 1, "positions": {"z": [1, 1]}}, "no such player"),
        ({"tick": 1, "positions": {"a": [1]}}, r"\[x, y\]"),
        ({"tick": 1, "positions": {"a": [1, "2"]}}, "two numbers"),
        ({"tick": 1, "positions": {"a": [1, True]}}, "two numbers"),
        ('{"tick": 1, "positions": {"a": [1, NaN]}}', "two numbers"),
        ('{"tick": 1, "positions": {"a": [1, 1e999]}}', "two numbers"),
        ({"tick": 1, "positions": [1]}, "positions"),
        ({"tick": 1, "event": 5}, "event"),
        ({"tick": 1, "event": "x", "player": "z"}, "no such player"),
        ({"tick": 1, "event": "x", "player": ["a"]}, "no such player"),
        ({"tick": 1, "event": "x", "score": {"z": 1}}, "score"),
        ({"tick": 1, "event": "x", "score": {"a": 1.5}}, "score"),
        ({"tick": 1, "event": "x", "text": "x" * 201}, "text"),
    ],
)
def test_a_wrong_record_is_reported_with_its_line(record: object, message: str) -> None:
    with pytest.raises(BadReplay, match=message):
        all_records(log({"tick": 1, "event": "x"}, record))


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\x00\x01", b"{}", b'"text"'])
def test_files_of_other_formats_are_refused(content: bytes) -> None:
    with pytest.raises(BadReplay):
        read(io.BytesIO(content))


def test_an_endless_line_is_not_read_to_its_end() -> None:
    source = io.BytesIO(b"{" + b" " * 10_000_000)
    with pytest.raises(BadReplay) as caught:
        read(source)
    assert caught.value.too_large
    assert source.tell() <= eventlog.MAX_LINE_BYTES + 1


@given(st.binary(max_size=300), st.integers(0, 400))
def test_a_damaged_log_is_read_or_refused_and_never_breaks(noise: bytes, at: int) -> None:
    whole = "\n".join(sample_replay.event_log(0.2)).encode()
    try:
        all_records(io.BytesIO(whole[:at] + noise + whole[at:]))
    except BadReplay as refusal:
        assert str(refusal)


def test_the_example_of_the_manual_is_a_log() -> None:
    text = (Path(__file__).parents[2] / "docs" / "exports.md").read_text()
    header, records, *_ = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    log = json.dumps(json.loads(header)) + "\n" + records
    header, rest = read(io.BytesIO(log.encode()))
    assert (header.title, len(header.players)) == ("결승전", 2)
    assert [record.tick for record in rest] == [0, 45, 46]
