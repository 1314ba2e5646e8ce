"""From records to frames: positions between samples, captions, score, the highlight frame."""

import copy

import pytest

from exports.eventlog import Header, Player, Record
from exports.failures import BadReplay
from exports.render.timeline import Moment, moments, outline

HEADER = Header("t", 100, 50, 10, {"a": Player("a", "A", "#ff0000"), "b": Player("b", "B", "#00ff00")}, {})


def frames_of(records: list[Record]) -> list[Moment]:
    plan = outline(HEADER, iter(records))
    return [copy.deepcopy(moment) for moment in moments(HEADER, iter(records), plan.frames)]


def test_a_second_of_ticks_is_thirty_frames_and_the_last_one() -> None:
    plan = outline(HEADER, iter([Record(0, {"a": (0, 0)}), Record(10, {"a": (10, 0)})]))
    assert (plan.frames, plan.duration_ms) == (31, 1000)


def test_a_player_moves_in_a_straight_line_between_samples() -> None:
    frames = frames_of([Record(0, {"a": (0, 0)}), Record(10, {"a": (30, 15)})])
    assert frames[0].positions["a"] == (0, 0)
    assert frames[10].positions["a"] == pytest.approx((10, 5))
    assert frames[30].positions["a"] == (30, 15)


def test_a_player_without_a_position_stays_until_the_sample_before_the_next() -> None:
    frames = frames_of(
        [Record(0, {"a": (0, 0), "b": (0, 0)}), Record(10, {"b": (9, 9)}), Record(20, {"a": (10, 0)})]
    )
    assert frames[29].positions["a"] == (0, 0)
    assert frames[45].positions["a"] == pytest.approx((5, 0))


def test_a_player_is_drawn_from_the_first_position_on() -> None:
    frames = frames_of([Record(0, {"a": (0, 0)}), Record(10, {"b": (9, 9)})])
    assert "b" not in frames[29].positions
    assert frames[30].positions["b"] == (9, 9)


def test_records_of_one_tick_are_one_sample() -> None:
    frames = frames_of([Record(0, {"a": (0, 0)}), Record(0, {"b": (1, 1)}), Record(3, {"a": (9, 9)})])
    assert frames[0].positions == {"a": (0, 0), "b": (1, 1)}


def test_the_score_counts_from_its_event_on_and_captions_pass() -> None:
    frames = frames_of(
        [Record(10, event="goal", text="골", player="a", score={"a": 1}), Record(100, event="end")]
    )
    assert not frames[29].score
    assert frames[30].score == {"a": 1}
    assert [caption.text for caption in frames[30].captions] == ["골"]
    assert not frames[30 + 91].captions


def test_the_highlight_frame_is_the_last_of_the_weightiest_events() -> None:
    plan = outline(
        HEADER,
        iter(
            [
                Record(10, event="goal", score={"a": 1}),
                Record(30, event="goal", score={"a": 2}),
                Record(90, event="x"),
            ]
        ),
    )
    assert 90 < plan.highlight_frame < 110


@pytest.mark.parametrize("records", [[Record(0, {"a": (0, 0)})], [Record(100, {"a": (0, 0)})]])
def test_the_highlight_frame_without_events_is_not_the_first(records: list[Record]) -> None:
    plan = outline(HEADER, iter(records))
    assert plan.highlight_frame == (0 if plan.frames == 1 else plan.frames * 3 // 5)


def test_a_log_without_records_is_refused() -> None:
    with pytest.raises(BadReplay, match="no records"):
        outline(HEADER, iter([]))


def test_too_many_events_in_one_tick_are_refused() -> None:
    with pytest.raises(BadReplay, match="more than 100 events"):
        outline(HEADER, iter([Record(1, event="x")] * 200))
