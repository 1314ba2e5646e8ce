"""Renders the MP4 or the thumbnail of a replay and reports the progress.

An event log is drawn in this process. A video is converted in a child process: see sandbox.py.
"""

import itertools
from pathlib import Path
from typing import BinaryIO

from PIL import Image

from exports import eventlog
from exports.failures import BadReplay
from exports.render import sandbox
from exports.render.detect import EVENT_LOG, SNIFF_BYTES, detect_kind
from exports.render.encoder import Encoder
from exports.render.progress import Meter
from exports.render.scene import HEIGHT, WIDTH, Scene
from exports.render.timeline import FRAMES_PER_SECOND, moments, outline
from exports.states import JobType, Phase


def produce(job_type: JobType, source: BinaryIO, target: Path, meter: Meter) -> None:
    """Writes the target, which must not exist. The source must be seekable and at its start; a video must
    be a real file, because the child process inherits its descriptor."""
    meter.at(Phase.PREPARING)
    kind = detect_kind(source.read(SNIFF_BYTES))
    source.seek(0)
    if kind != EVENT_LOG:
        sandbox.convert(job_type, kind, source, target, meter)
    elif job_type == JobType.MP4:
        _draw_video(source, target, meter)
    else:
        _draw_picture(source, meter).save(target, "PNG", optimize=True)


def _draw_video(source: BinaryIO, target: Path, meter: Meter) -> None:
    header, records = eventlog.read(source)
    plan = outline(header, records)
    source.seek(0)
    header, records = eventlog.read(source)
    scene = Scene(header)

    def muxed(count: int) -> None:
        meter.at(Phase.RENDERING, count, plan.frames)

    with Encoder(target, WIDTH, HEIGHT, FRAMES_PER_SECOND, muxed) as encoder:
        for moment in moments(header, records, plan.frames):
            scene.follow(moment)
            encoder.feed(scene.draw(moment).frame)


def _draw_picture(source: BinaryIO, meter: Meter) -> Image.Image:
    header, records = eventlog.read(source)
    plan = outline(header, records)
    source.seek(0)
    header, records = eventlog.read(source)
    scene = Scene(header)
    moment = None
    for moment in itertools.islice(moments(header, records, plan.frames), plan.highlight_frame + 1):
        scene.follow(moment)
        meter.at(Phase.RENDERING, moment.index, plan.highlight_frame + 1)
    if moment is None:
        raise BadReplay("no_records")
    return scene.draw(moment).picture()
