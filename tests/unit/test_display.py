"""Durations, timelines and masked secrets on pages."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs.display import (
    BAR_WIDTH,
    MASK,
    duration,
    first_line,
    has_mask,
    mask_secrets,
    restore_secrets,
    time_bar,
)

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


def test_a_value_whose_name_says_secret_is_masked():
    masked = mask_secrets({"url": "https://a", "headers": [{"Authorization": "Bearer x"}], "api_key": "k"})
    assert masked == {"url": "https://a", "headers": [{"Authorization": MASK}], "api_key": MASK}


def test_a_mask_is_replaced_by_the_secret_that_it_hid():
    before = {"url": "a", "token": "hush", "deep": [{"password": "p", "x": 1}]}
    masked = mask_secrets(before)
    assert restore_secrets(masked, before) == before
    assert restore_secrets({**masked, "url": "b"}, before) == {**before, "url": "b"}
    assert restore_secrets({"token": "new"}, before) == {"token": "new"}


def test_a_secret_follows_the_ref_of_its_step_and_a_moved_mask_stays():
    before = [{"ref": "a", "token": "1"}, {"ref": "b", "token": "2"}]
    assert restore_secrets(mask_secrets(before)[::-1], before) == before[::-1]
    assert has_mask(restore_secrets([{"ref": "c", "token": MASK}], before))
    assert has_mask(restore_secrets({"other": MASK}, {"token": "1"}))
    assert not has_mask(restore_secrets(mask_secrets(before), before))
