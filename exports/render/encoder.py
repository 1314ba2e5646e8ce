"""Encodes H.264 in MP4 for browsers: yuv420p, constant rate. faststart.py moves the index to the front."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import av

PRESET, CRF, KEYFRAME_SECONDS = "veryfast", "23", 2


class Encoder:
    """Feed frames in order. The file is complete only after the with block."""

    def __init__(
        self,
        target: Path | BinaryIO,
        width: int,
        height: int,
        rate: int,
        muxed: Callable[[int], None],
        x264: str = "",
    ) -> None:
        file: Any = str(target) if isinstance(target, Path) else target
        self._container = av.open(file, "w", format="mp4")
        options = {"preset": PRESET, "crf": CRF, "x264-params": x264}
        self._stream = self._container.add_stream("libx264", rate=rate, options=options)
        self._stream.width, self._stream.height, self._stream.pix_fmt = width, height, "yuv420p"
        codec = self._stream.codec_context
        codec.gop_size, codec.thread_count = rate * KEYFRAME_SECONDS, 1
        self._tick = codec.time_base = Fraction(1, rate)
        # BT.709, limited range: stated in the file, so that players do not guess it from the size.
        codec.colorspace = codec.color_primaries = codec.color_trc = codec.color_range = 1
        self._muxed, self._report = 0, muxed
        self._fed = 0

    def feed(self, frame: av.VideoFrame) -> None:
        frame.pts, frame.time_base = self._fed, self._tick
        self._fed += 1
        self._mux(self._stream.encode(frame))

    def _mux(self, packets: list[Any]) -> None:
        for packet in packets:
            self._container.mux(packet)
            self._muxed += 1
        self._report(self._muxed)

    def __enter__(self) -> "Encoder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._mux(self._stream.encode(None))
        finally:
            self._container.close()
