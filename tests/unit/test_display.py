"""Durations, timelines and the first lines of errors."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs.display import BAR_WIDTH, duration, time_bar
from jobs.texts import first_line

AT = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "seconds, text",
    [
        (None, "–"),
        (0, "0.0s"),
        (9.94, "9.9s"),
        (59.4, "0:59"),
        (60, "1:00"),
        (5400, "1:30:00"),
        (90_000, "25:00:00"),
        (-3, "0:00"),
    ],
)
def test_a_duration_is_formatted_like_a_clock(seconds, text):
    assert duration(seconds) == text


def test_the_first_line_of_an_error_is_its_text_or_its_type():
    assert first_line("boom\nwhile reading") == "boom"
    assert first_line("") == ""
    assert first_line(ValueError()) == "ValueError"


def test_a_bar_is_a_part_of_the_timeline_and_never_too_thin_to_see():
    end = AT + timedelta(seconds=100)
    half = time_bar(AT + timedelta(seconds=50), end, AT, end)
    assert half is not None
    assert (half.x, half.width) == (BAR_WIDTH // 2, BAR_WIDTH // 2)
    instant = time_bar(end, end, AT, end)
    assert instant is not None
    assert instant.width == 4
    assert instant.x + instant.width <= BAR_WIDTH
    assert time_bar(None, end, AT, end) is None
