"""Encodes videos for browsers: H.264 and AAC in MP4 or VP9 and Opus in WebM, yuv420p, constant rate.

faststart.py moves the index of an MP4 to the front.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO, cast

import av

from exports.render.container import ContainerWriter
from exports.render.sound import RATE as SOUND_RATE

KEYFRAME_SECONDS = 2
SOUND_BITS = {"mono": 96_000, "stereo": 160_000}  # a second
# How long packets of one track wait for those of the other: in memory.
INTERLEAVE = {"max_interleave_delta": "1000000"}  # µs


@dataclass(frozen=True, slots=True)
class Codec:
    container: str
    name: str
    options: dict[str, str]
    sound: str


# VP9 as fast as x264, and without looking ahead, which would take 60 MiB more.
VP9 = {"crf": "36", "deadline": "realtime", "cpu-used": "5", "lag-in-frames": "0", "auto-alt-ref": "0"}
CODECS = {
    "MP4": Codec("mp4", "libx264", {"preset": "veryfast", "crf": "23"}, "aac"),
    "WEBM": Codec("webm", "libvpx-vp9", VP9, "libopus"),
}


class Encoder(ContainerWriter):
    """Feed frames in order."""

    def __init__(
        self,
        target: Path | BinaryIO,
        file_format: str,
        size: tuple[int, int],
        rate: int,
        report: Callable[[int], None],
        x264: str = "",
    ) -> None:
        kind = CODECS[file_format]
        container = av.open(target, "w", format=kind.container, options=INTERLEAVE)
        options = {**kind.options, "x264-params": x264} if kind.name == "libx264" else kind.options
        stream = container.add_stream(kind.name, rate=rate, options=options)
        super().__init__(container, cast("av.VideoStream", stream), report)
        self._stream.width, self._stream.height, self._stream.pix_fmt = *size, "yuv420p"
        codec = self._stream.codec_context
        codec.gop_size, codec.thread_count = rate * KEYFRAME_SECONDS, 1
        if kind.name != "libx264":
            codec.bit_rate = 0  # the quality is constant, not the rate
        self._tick = codec.time_base = Fraction(1, rate)
        # BT.709, limited range: stated in the file, so that players do not guess it from the size.
        codec.colorspace = codec.color_primaries = codec.color_trc = codec.color_range = 1
        self._sound: Any = None
        self._kind = kind

    def add_sound(self, layout: str) -> None:
        """Before the first picture."""
        self._sound = self._container.add_stream(
            self._kind.sound, rate=SOUND_RATE, bit_rate=SOUND_BITS[layout]
        )
        self._sound.codec_context.layout, self._sound.codec_context.thread_count = layout, 1

    def feed_sound(self, piece: av.AudioFrame) -> None:
        self._container.mux(self._sound.encode(piece))

    def feed(self, frame: av.VideoFrame) -> None:
        frame.pts, frame.time_base = self._pictures, self._tick
        self._pictures += 1
        self._mux(self._stream.encode(frame))

    def _flush(self) -> None:
        super()._flush()
        if self._sound:
            self._container.mux(self._sound.encode(None))
