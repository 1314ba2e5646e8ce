"""The lines of one attempt that wait in memory to be written. When there are too many, the oldest go."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from jobs.answers import Claim
from jobs.redaction import Redactor
from jobs.run_logs.lines import (
    LEVEL_OF_OUTPUT,
    LINE_BYTES,
    LONGEST_LINE,
    Chunk,
    LineSplitter,
    NewLine,
    pieces,
    size_of,
)

# When so much waits, the writer does not wait for its next time: the end of a run is to find little to write.
FLUSH_ABOVE = 128 * 1024


class NumberedLines(NamedTuple):
    """Consecutive lines, and the number of the first."""

    first: int
    lines: list[NewLine]


class RunLog:
    """The log of a run, from the beginning of its body to its end. All threads of the body may write.

    `notify` is called when lines wait, and with True when so many do that they are to be written at once.
    """

    def __init__(
        self, claim: Claim, limit: int, notify: Callable[[bool], None] = lambda _at_once: None
    ) -> None:
        self.claim = claim
        self.limit = limit
        self.closed = False
        self.stored: deque[Chunk] = deque()
        # Held while lines are written, so that they are written in order.
        self.writing = threading.Lock()
        # A signal handler may print while this thread holds the lock.
        self._lock = threading.RLock()
        self._lines: deque[NewLine] = deque()
        self._first = 1  # the number of the oldest line that waits
        self._size = 0
        self._notify = notify
        self._notify_above = 0  # the size above which something is to be done
        self._redactor: Redactor | None = None
        # What Python prints and what programs print may each stop within a line.
        self._splitters: dict[tuple[str, bool], tuple[LineSplitter, float]] = {}

    def add(
        self, level: int, stream: str, logger: str, messages: Iterable[str], *, at: float | None = None
    ) -> None:
        """Add messages that may be long and hold secrets."""
        at = time.time() if at is None else at
        if self._redactor is None:
            self._redactor = Redactor(self.claim.args)
        for message in messages:
            clean = self._redactor.redact(message.replace("\0", "\ufffd"))
            for piece in pieces(clean) if len(clean) > LONGEST_LINE else (clean,):
                self._append((at, level, stream, logger, piece))

    def add_clean(self, at: float, level: int, stream: str, logger: str, message: str) -> None:
        """Add a message that `redact` would leave as it is. A chatty body calls little else."""
        if self._redactor is None:
            self._redactor = Redactor(self.claim.args)
        if self._redactor.has_values or len(message) > LONGEST_LINE or "\0" in message:
            self.add(level, stream, logger, [message], at=at)
        else:
            self._append((at, level, stream, logger, message))

    def _append(self, line: NewLine) -> None:
        with self._lock:
            if self.closed:
                return
            self._lines.append(line)
            self._size += len(line[4]) + LINE_BYTES
            size = self._size
        if size > self._notify_above:
            self._wake_writer()

    def _wake_writer(self) -> None:
        with self._lock:
            self._drop_oldest()
            at_once = self._size > FLUSH_ABOVE
            self._notify_above = self.limit if at_once else min(FLUSH_ABOVE, self.limit)
        self._notify(at_once)

    def print(self, stream: str, text: str, *, program: bool = False) -> None:
        """Add the lines of printed text; the beginning of a line waits for its end."""
        with self._lock:
            if self.closed:
                return
            splitter, _ = self._splitters.get((stream, program)) or (LineSplitter(), 0.0)
            lines = splitter.feed(text)
            self._splitters[stream, program] = (splitter, time.monotonic())
            if lines:
                self.add(LEVEL_OF_OUTPUT[stream], stream, "", lines)
        if splitter.rest:
            self._notify(False)

    def end_lines(self, older_than: float = 0.0) -> None:
        """Add the beginnings of lines whose end has not come for so long."""
        with self._lock:
            for (stream, _), (splitter, since) in self._splitters.items():
                if splitter.rest and time.monotonic() - since >= older_than:
                    self.add(LEVEL_OF_OUTPUT[stream], stream, "", splitter.flush())

    def close(self) -> None:
        """Take no more lines: the body has ended, or another worker owns the run."""
        with self._lock:
            self.closed = True

    @property
    def is_silent(self) -> bool:
        """Whether there has never been a line."""
        return self._first == 1 and not self._lines

    @property
    def has_lines(self) -> bool:
        return bool(self._lines)

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits, not even the beginning of a line."""
        return not self._lines and not any(splitter.rest for splitter, _ in self._splitters.values())

    def take(self) -> NumberedLines:
        """The lines that wait."""
        with self._lock:
            first = self._first
            # At no time does it look as if there had never been a line.
            self._first += len(self._lines)
            lines, self._lines = self._lines, deque()
            self._size = self._notify_above = 0
        return NumberedLines(first, list(lines))

    def put_back(self, batch: NumberedLines) -> None:
        """The lines could not be written now. They are gone when younger ones had to go meanwhile."""
        with self._lock:
            if batch.first + len(batch.lines) != self._first:
                return
            self._first = batch.first
            self._lines.extendleft(reversed(batch.lines))
            self._size += sum(size_of(line[4]) for line in batch.lines)
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        while self._size > self.limit and len(self._lines) > 1:
            self._size -= size_of(self._lines.popleft()[4])
            self._first += 1
