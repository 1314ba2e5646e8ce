"""The lines of one attempt that wait in memory to be written. When there are too many, the oldest go."""

import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence

from jobs.answers import Claim
from jobs.redaction import Redactor
from jobs.run_logs.lines import LEVEL_OF_OUTPUT, Chunk, Line, LineSplitter, pieces, size_of


class RunLog:
    """The log of a run, from the beginning of its body to its end. All threads of the body may write."""

    def __init__(self, claim: Claim, limit: int) -> None:
        self.claim = claim
        self.limit = limit
        self.closed = False
        self.stored: deque[Chunk] = deque()
        # Held while lines are written, so that they are written in order.
        self.writing = threading.Lock()
        # A signal handler may print while this thread holds the lock.
        self._lock = threading.RLock()
        self._lines: deque[tuple[int, Line]] = deque()
        self._size = self._count = 0
        self._redactor: Redactor | None = None
        # What Python prints and what programs print may each stop within a line.
        self._splitters: dict[tuple[str, bool], tuple[LineSplitter, float]] = {}

    def add(self, level: int, stream: str, logger: str, messages: Iterable[str]) -> None:
        at = time.time_ns() // 1_000_000
        with self._lock:
            if self.closed:
                return
            for message in messages:
                for piece in pieces(message) if message else ("",):
                    line = Line(at, level, stream, logger, piece)
                    self._count += 1
                    self._size += size_of(line)
                    self._lines.append((self._count, line))
            self._drop_oldest()

    def print(self, stream: str, text: str, *, program: bool = False) -> None:
        """Add the lines of printed text; the beginning of a line waits for its end."""
        with self._lock:
            splitter, _ = self._splitters.get((stream, program)) or (LineSplitter(), 0.0)
            lines = splitter.feed(text)
            self._splitters[stream, program] = (splitter, time.monotonic())
            if lines:
                self.add(LEVEL_OF_OUTPUT[stream], stream, "", lines)

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
        return self._count == 0

    @property
    def has_lines(self) -> bool:
        return bool(self._lines)

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits, not even the beginning of a line."""
        return not self._lines and not any(splitter.rest for splitter, _ in self._splitters.values())

    def take(self) -> list[tuple[int, Line]]:
        """The lines that wait, without secrets."""
        with self._lock:
            lines, self._lines, self._size = self._lines, deque(), 0
        if not lines:
            return []
        if self._redactor is None:
            self._redactor = Redactor(self.claim.args)
        return [
            (number, line._replace(message=self._redactor.redact(line.message.replace("\0", "\ufffd"))))
            for number, line in lines
        ]

    def put_back(self, lines: Sequence[tuple[int, Line]]) -> None:
        """The lines could not be written now."""
        with self._lock:
            self._lines.extendleft(reversed(lines))
            self._size += sum(size_of(line) for _, line in lines)
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        while self._size > self.limit and len(self._lines) > 1:
            self._size -= size_of(self._lines.popleft()[1])
