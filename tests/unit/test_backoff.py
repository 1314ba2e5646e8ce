"""Retry delays follow the v1 contract and stay within their limits."""

import pytest

from jobs.backoff import LONGEST_MS, delay_ms
from jobs.states import Backoff

MINUTE = 60_000


@pytest.mark.parametrize(
    ("strategy", "minutes"), [(Backoff.EXPONENTIAL, [1, 2, 4, 8]), (Backoff.LINEAR, [1, 2, 3, 4])]
)
def test_delays_follow_the_v1_contract(strategy, minutes):
    assert [delay_ms(strategy, MINUTE, count) for count in range(4)] == [
        minute * MINUTE for minute in minutes
    ]


def test_no_delay_is_longer_than_the_longest():
    for strategy in Backoff:
        assert delay_ms(strategy, MINUTE, 100_000) == LONGEST_MS
    assert delay_ms(Backoff.LINEAR, MINUTE, 5, longest_ms=90_000) == 90_000


def test_a_base_of_zero_means_no_delay():
    assert delay_ms(Backoff.EXPONENTIAL, 0, 7) == 0


def test_jitter_takes_up_to_half_away_and_adds_nothing():
    delays = {delay_ms(Backoff.LINEAR, 1_000, 1, jitter=True) for _ in range(200)}
    assert min(delays) >= 1_000
    assert max(delays) <= 2_000
    assert len(delays) > 10
