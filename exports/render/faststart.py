"""Moves the index of an MP4 to the front, so that a browser plays the file before it has all of it.

FFmpeg can do this too, by rewriting the file when it closes it: a second copy that reports no progress, and
that even a cancelled export would wait for. Here the file is read in another order while it is copied to
its place.
"""

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

CONTAINERS = {b"trak", b"mdia", b"minf", b"stbl"}
LARGEST_INDEX = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Box:
    kind: bytes
    start: int
    size: int


class Reordered(io.RawIOBase):
    """Reads pieces one after the other: bytes, or ranges of a file."""

    def __init__(self, source: BinaryIO, pieces: list[bytes | tuple[int, int]]) -> None:
        self._source, self._pieces = source, pieces
        self._piece, self._at = 0, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while self._piece < len(self._pieces):
            piece = self._pieces[self._piece]
            length = len(piece) if isinstance(piece, bytes) else piece[1]
            count = length - self._at if size < 0 else min(size, length - self._at)
            if count > 0:
                chunk = self._take(piece, count)
                self._at += len(chunk)
                return chunk
            self._piece, self._at = self._piece + 1, 0
        return b""

    def _take(self, piece: bytes | tuple[int, int], count: int) -> bytes:
        if isinstance(piece, bytes):
            return piece[self._at : self._at + count]
        self._source.seek(piece[0] + self._at)
        return self._source.read(count)


def index_first(source: BinaryIO) -> BinaryIO:
    """The same video with its index first; the source itself when there is nothing to move."""
    boxes = list(_boxes(source, 0, source.seek(0, io.SEEK_END)))
    source.seek(0)
    kinds = [box.kind for box in boxes]
    if kinds.count(b"moov") != 1 or b"mdat" not in kinds or kinds.index(b"moov") < kinds.index(b"mdat"):
        return source
    moov = next(box for box in boxes if box.kind == b"moov")
    if moov.size > LARGEST_INDEX:
        return source
    source.seek(moov.start)
    index = bytearray(source.read(moov.size))
    source.seek(0)
    if not _shift(index, moov.size):
        return source
    head = [box for box in boxes[:1] if box.kind == b"ftyp"]
    rest = [box for box in boxes[len(head) :] if box is not moov]
    pieces: list[bytes | tuple[int, int]] = [(box.start, box.size) for box in head]
    pieces += [bytes(index), *((box.start, box.size) for box in rest)]
    return Reordered(source, pieces)  # type: ignore[return-value]


def _boxes(source: BinaryIO, start: int, end: int) -> Iterator[Box]:
    while start + 8 <= end:
        source.seek(start)
        size, kind = struct.unpack(">I4s", source.read(8))
        if size == 1:
            (size,) = struct.unpack(">Q", source.read(8))
        elif size == 0:
            size = end - start
        if size < 8:
            return
        yield Box(kind, start, size)
        start += size


def _shift(index: bytearray, by: int) -> bool:
    """Adds `by` to every chunk offset. False when a 32-bit offset would overflow."""
    for box in _tables(index, 8, len(index)):
        (count,) = struct.unpack_from(">I", index, box.start + 12)
        form = f">{count}{'I' if box.kind == b'stco' else 'Q'}"
        offsets = [offset + by for offset in struct.unpack_from(form, index, box.start + 16)]
        if box.kind == b"stco" and offsets and max(offsets) >= 2**32:
            return False
        struct.pack_into(form, index, box.start + 16, *offsets)
    return True


def _tables(index: bytearray, start: int, end: int) -> Iterator[Box]:
    """The tables of chunk offsets, at any depth of the index."""
    for box in _boxes(io.BytesIO(index), start, end):
        if box.kind in CONTAINERS:
            yield from _tables(index, box.start + 8, box.start + box.size)
        elif box.kind in (b"stco", b"co64"):
            yield box
