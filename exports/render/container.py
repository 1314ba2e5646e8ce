"""Writes the pictures of a video or a GIF into its file."""

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self


class ContainerWriter:
    """Reports how many pictures it has written. The file is complete only after the with block."""

    def __init__(self, container: Any, stream: Any, report: Callable[[int], None]) -> None:
        self._container, self._stream = container, stream
        self._pictures = self._packets = 0
        self._report = report

    def _mux(self, packets: list[Any]) -> None:
        for packet in packets:
            self._container.mux(packet)
            self._packets += 1
        self._report(self._packets)

    def _flush(self) -> None:
        """Write what the encoder still holds."""
        self._mux(self._stream.encode(None))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._flush()
        finally:
            self._container.close()
