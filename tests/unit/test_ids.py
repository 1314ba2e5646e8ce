"""Ids grow with time and are unique."""

import time
from concurrent.futures import ThreadPoolExecutor

from jobs.ids import uuid7


def test_an_id_is_a_version_seven_uuid_of_now():
    before = time.time_ns() // 1_000_000
    made = uuid7()
    assert (made.version, made.variant) == (7, "specified in RFC 4122")
    # Many ids at once may be a moment ahead of the clock.
    assert before <= made.int >> 80 <= time.time_ns() // 1_000_000 + 1_000


def test_ids_of_one_process_only_grow():
    made = [uuid7() for _ in range(20_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_threads_never_make_the_same_id():
    with ThreadPoolExecutor(8) as pool:
        batches = list(pool.map(lambda _: [uuid7() for _ in range(2_000)], range(8)))
    assert len({identifier for batch in batches for identifier in batch}) == 16_000
    assert all(batch == sorted(batch) for batch in batches)


def test_ids_grow_although_the_clock_goes_back(monkeypatch):
    before = uuid7()
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    assert uuid7() > before
