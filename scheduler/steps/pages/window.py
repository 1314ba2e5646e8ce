"""Which jobs of a queue a page shows: all of a short one, and of a long one those around where it stands."""

from dataclasses import dataclass

# A page of more would take long to answer, and nobody reads it.
MOST = 60


@dataclass(frozen=True)
class Window:
    """The jobs numbered from `first` to `last`, of `whole`."""

    first: int
    last: int
    whole: int

    @property
    def is_all(self) -> bool:
        return self.last - self.first + 1 >= self.whole

    @property
    def earlier(self) -> int | None:
        return max(1, self.first - MOST) if self.first > 1 else None

    @property
    def later(self) -> int | None:
        return self.last + 1 if self.last < self.whole else None


def window_of(whole: int, *, wanted: int | None, at: int) -> Window:
    """From the job that was `wanted`, or else around the one that counts, which stands in the middle."""
    first = at - MOST // 2 if wanted is None else wanted
    first = max(1, min(first, whole - MOST + 1 if wanted is None else whole))
    return Window(first, min(whole, first + MOST - 1), whole)
