"""Encodes an animated GIF. All its pictures share one palette, made from a sample of them beforehand.

So no more than one picture is in memory, and a color does not flicker.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import av
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter

from exports.failures import BadReplay
from exports.render.container import ContainerWriter

BOX, FPS = (640, 360), 10
SAMPLES = 12
PIXELS = "bgra"
PALETTE_SIDE = 16
DITHER = "dither=bayer:bayer_scale=4:diff_mode=rectangle"


def sample_rate(frames: int, fps: int) -> int:
    """The rate at which to sample a part of so many frames: some pictures of a short one, one a second of
    a long one."""
    return min(fps, max(math.ceil(SAMPLES * fps / frames), 1))


def palette_of(frames: Iterable[VideoFrame]) -> VideoFrame:
    graph: Any = None
    scaler = VideoReformatter()
    for number, frame in enumerate(frames):
        picture = scaler.reformat(frame, format=PIXELS, threads=1)
        if graph is None:
            graph = av.filter.Graph()
            graph.threads = 1
            source = graph.add_buffer(
                width=frame.width, height=frame.height, format=PIXELS, time_base=Fraction(1)
            )
            graph.link_nodes(source, graph.add("palettegen"), graph.add("buffersink")).configure()
        picture.pts, picture.time_base = number, Fraction(1)
        graph.push(picture)
    if graph is None:
        raise BadReplay("no_pictures")
    graph.push(None)
    palette: VideoFrame = graph.pull()
    return palette


class GifEncoder(ContainerWriter):
    """Feed frames in order."""

    def __init__(
        self,
        target: Path | BinaryIO,
        palette: VideoFrame,
        size: tuple[int, int],
        rate: int,
        report: Callable[[int], None],
    ) -> None:
        self._tick = Fraction(1, rate)
        container: Any = av.open(target, "w", format="gif", options={"loop": "0"})
        super().__init__(container, container.add_stream("gif", rate=rate), report)
        self._stream.width, self._stream.height, self._stream.pix_fmt = *size, "pal8"
        self._stream.codec_context.time_base = self._tick
        self._scaler = VideoReformatter()
        self._source, self._sink = self._build_graph(palette, size)

    def _build_graph(self, palette: VideoFrame, size: tuple[int, int]) -> tuple[Any, Any]:
        graph: Any = av.filter.Graph()
        graph.threads = 1
        width, height = size
        source = graph.add_buffer(width=width, height=height, format=PIXELS, time_base=self._tick)
        colors = graph.add_buffer(
            width=PALETTE_SIDE, height=PALETTE_SIDE, format=palette.format.name, time_base=self._tick
        )
        mapped, sink = graph.add("paletteuse", DITHER), graph.add("buffersink")
        source.link_to(mapped, 0, 0)
        colors.link_to(mapped, 0, 1)
        mapped.link_to(sink)
        graph.configure()
        palette.pts, palette.time_base = 0, self._tick
        colors.push(palette)
        colors.push(None)
        self._graph = graph  # its filters live as long as it does
        return source, sink

    def feed(self, frame: VideoFrame) -> None:
        picture = self._scaler.reformat(frame, format=PIXELS, threads=1)
        picture.pts, picture.time_base = self._pictures, self._tick
        self._pictures += 1
        self._source.push(picture)
        self._encode_mapped()

    def _encode_mapped(self) -> None:
        while True:
            try:
                picture = self._sink.pull()
            except (av.error.BlockingIOError, av.error.EOFError):
                return
            self._mux(self._stream.encode(picture))

    def _flush(self) -> None:
        self._source.push(None)
        self._encode_mapped()
        super()._flush()
