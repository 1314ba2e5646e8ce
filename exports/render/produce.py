"""Renders an export of a replay and reports the progress.

An event log is drawn in this process. A video is converted in a child process: see sandbox.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from av.video.frame import VideoFrame
from PIL import Image

from exports import eventlog
from exports.failures import BadReplay
from exports.render import gif, sandbox
from exports.render.detect import EVENT_LOG, SNIFF_BYTES, detect_kind
from exports.render.encoder import Encoder
from exports.render.options import DEFAULTS, RenderOptions
from exports.render.progress import Meter
from exports.render.scene import SIZE, Scene
from exports.render.timeline import FRAMES_PER_SECOND, Moment, Outline, moments, outline
from exports.states import JobType, Phase


def produce(
    job_type: JobType, source: BinaryIO, target: Path, meter: Meter, options: RenderOptions = DEFAULTS
) -> str | None:
    """Writes the target, which must not exist; answers one of failures.NOTES, or None.

    The source must be seekable and at its start; a video must be a real file, because the child process
    inherits its descriptor."""
    meter.at(Phase.PREPARING)
    kind = detect_kind(source.read(SNIFF_BYTES))
    source.seek(0)
    if kind != EVENT_LOG:
        return sandbox.convert(job_type, kind, source, target, meter, options)
    is_gif = job_type == JobType.GIF
    drawing = Drawing(
        source,
        options,
        size=options.box(gif.BOX if is_gif else SIZE),
        rate=options.fps or (gif.FPS if is_gif else FRAMES_PER_SECOND),
    )
    if job_type == JobType.THUMBNAIL:
        _draw_picture(drawing, meter).save(target, "PNG", optimize=True)
    else:
        _draw_pictures(drawing, job_type, target, meter)
    return None


@dataclass(frozen=True, slots=True)
class Drawing:
    """An event log, and how it is drawn."""

    source: BinaryIO
    options: RenderOptions
    size: tuple[int, int]
    rate: int

    def outline(self) -> Outline:
        self.source.seek(0)
        header, records = eventlog.read(self.source)
        return outline(header, records, self.options.part, self.rate)

    def follow(self, frames: int, rate: int) -> Iterator[tuple[Scene, Moment]]:
        """The moments of so many frames at this rate, and the scene that can draw them."""
        self.source.seek(0)
        header, records = eventlog.read(self.source)
        scene = Scene(header, self.size, rate)
        for moment in moments(header, records, frames, self.options.part, rate):
            scene.follow(moment)
            yield scene, moment

    def pictures(self, frames: int, rate: int) -> Iterator[VideoFrame]:
        """Each picture is drawn over the one before it."""
        return (scene.draw(moment).frame for scene, moment in self.follow(frames, rate))


def _draw_pictures(drawing: Drawing, job_type: JobType, target: Path, meter: Meter) -> None:
    frames, size, rate = drawing.outline().frames, drawing.size, drawing.rate

    def report(count: int) -> None:
        meter.at(Phase.RENDERING, count, frames)

    encoder: Encoder | gif.GifEncoder
    if job_type == JobType.GIF:
        encoder = gif.GifEncoder(target, _palette(drawing, frames), size, rate, report)
    else:
        encoder = Encoder(target, job_type.value, size, rate, report)
    with encoder:
        for picture in drawing.pictures(frames, rate):
            encoder.feed(picture)


def _palette(drawing: Drawing, frames: int) -> VideoFrame:
    samples = gif.sample_rate(frames, drawing.rate)
    return gif.palette_of(drawing.pictures(-(-frames * samples // drawing.rate), samples))


def _draw_picture(drawing: Drawing, meter: Meter) -> Image.Image:
    frames = drawing.outline().highlight_frame + 1
    last = None
    for last in drawing.follow(frames, drawing.rate):
        meter.at(Phase.RENDERING, last[1].index, frames)
    if last is None:
        raise BadReplay("no_records")
    scene, moment = last
    return scene.draw(moment).picture()
