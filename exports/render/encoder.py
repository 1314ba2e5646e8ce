"""Encodes videos for browsers: H.264 in MP4 or VP9 in WebM, yuv420p, constant rate.

faststart.py moves the index of an MP4 to the front.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, cast

import av

KEYFRAME_SECONDS = 2


@dataclass(frozen=True, slots=True)
class Codec:
    container: str
    name: str
    options: dict[str, str]


# VP9 as fast as x264, and without looking ahead, which would take 60 MiB more.
VP9 = {"crf": "36", "deadline": "realtime", "cpu-used": "5", "lag-in-frames": "0", "auto-alt-ref": "0"}
CODECS = {
    "MP4": Codec("mp4", "libx264", {"preset": "veryfast", "crf": "23"}),
    "WEBM": Codec("webm", "libvpx-vp9", VP9),
}


class Encoder:
    """Feed frames in order. The file is complete only after the with block."""

    def __init__(
        self,
        target: Path | BinaryIO,
        file_format: str,
        size: tuple[int, int],
        rate: int,
        muxed: Callable[[int], None],
        x264: str = "",
    ) -> None:
        file: Any = str(target) if isinstance(target, Path) else target
        kind = CODECS[file_format]
        self._container = av.open(file, "w", format=kind.container)
        options = {**kind.options, "x264-params": x264} if kind.name == "libx264" else kind.options
        stream = self._container.add_stream(kind.name, rate=rate, options=options)
        self._stream = cast("av.VideoStream", stream)
        self._stream.width, self._stream.height, self._stream.pix_fmt = *size, "yuv420p"
        codec = self._stream.codec_context
        codec.gop_size, codec.thread_count = rate * KEYFRAME_SECONDS, 1
        if kind.name != "libx264":
            codec.bit_rate = 0  # the quality is constant, not the rate
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
