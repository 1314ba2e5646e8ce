"""The last hour as bars, one a minute. Pure arithmetic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

STEP, HEIGHT = 10, 60


@dataclass(frozen=True)
class Minute:
    x: int
    done_y: int
    done_height: int
    failed_y: int
    failed_height: int


def bars(throughput: Sequence[Mapping[str, Any]]) -> list[Minute]:
    """What failed stands on what was done; the tallest minute fills the height."""
    most = max((one["done"] + one["failed"] for one in throughput), default=0) or 1
    found = []
    for place, one in enumerate(throughput):
        done, failed = tall(one["done"], most), tall(one["failed"], most)
        done = min(done, HEIGHT - failed)
        found.append(Minute(place * STEP, HEIGHT - done, done, HEIGHT - done - failed, failed))
    return found


def tall(number: int, most: int) -> int:
    """A single one among thousands is still seen."""
    return max(2, round(HEIGHT * number / most)) if number else 0
