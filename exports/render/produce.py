"""Makes the MP4 or the thumbnail of a replay: chooses by what the replay is, and tells how far it is.

An event log is drawn here and now. A video is read by a process of its own: see apart.py.
"""

import itertools
from pathlib import Path
from typing import BinaryIO

from PIL import Image

from exports import eventlog
from exports.render import sandbox
from exports.render.detect import EVENT_LOG, SNIFF_BYTES, kind
from exports.render.encoder import Encoder
from exports.render.progress import Meter
from exports.render.scene import HEIGHT, WIDTH, Scene
from exports.render.timeline import FRAMES_PER_SECOND, moments, outline
from exports.states import JobType, Phase


def produce(job_type: JobType, source: BinaryIO, target: Path, meter: Meter) -> None:
    """Writes the target, which must not be there yet. The source must stand at its beginning, be able to go
    back to it, and when it is a video it must be a file that another process can be given."""
    meter.at(Phase.PREPARING)
    found = kind(source.read(SNIFF_BYTES))
    source.seek(0)
    if found != EVENT_LOG:
        sandbox.make(job_type, found, source, target, meter)
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

    with Encoder(target, WIDTH, HEIGHT, FRAMES_PER_SECOND, 1, muxed) as encoder:
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
    for moment in itertools.islice(moments(header, records, plan.frames), plan.telling_frame + 1):
        scene.follow(moment)
        meter.at(Phase.RENDERING, moment.index, plan.telling_frame + 1)
    if moment is None:
        raise eventlog.BadReplay("The event log has no moments to show.")
    return scene.draw(moment).picture()
