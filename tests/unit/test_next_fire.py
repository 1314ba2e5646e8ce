"""The next-fire calculation against the brute-force reference of `tests/bench/next_fire.py`: a sample.

The whole comparison, 2,000 rules over two years, is that program.
"""

import random
from datetime import UTC, datetime, timedelta

import pytest

from tests.bench.next_fire import Calendar, differences, random_expression

# Around every clock change in 2026.
WINDOWS = {
    "Asia/Seoul": [datetime(2026, 12, 20, tzinfo=UTC)],
    "America/New_York": [datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)],
    "America/Santiago": [datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 8, 30, tzinfo=UTC)],
    "Australia/Lord_Howe": [datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 9, 27, tzinfo=UTC)],
}


@pytest.mark.parametrize(("zone", "start"), [(zone, start) for zone in WINDOWS for start in WINDOWS[zone]])
def test_random_rules_fire_at_the_times_of_a_minute_by_minute_search(zone, start):
    dice = random.Random(f"{zone} {start}")
    calendar = Calendar(zone, start, timedelta(days=16))
    assert len(calendar.changes) == (0 if zone == "Asia/Seoul" else 1)
    compared = 0
    for _ in range(20):
        expression = random_expression(dice)
        # Days and months are unrestricted, or hardly any rule would fire in these two weeks.
        expression = " ".join([*expression.split()[:2], "*", "*", dice.choice(["*", "1-5", "0,6"])])
        for difference in differences(expression, calendar, dice):
            assert difference is None
            compared += 1
    assert compared > 700
