"""Makes the MP4 or the thumbnail of a replay: chooses by what the replay is, and tells how far it is."""

import itertools
from pathlib import Path
from typing import Any, BinaryIO

from PIL import Image, ImageStat

from exports import eventlog
from exports.render import video
from exports.render.encoder import Encoder
from exports.render.scene import HEIGHT, WIDTH, Scene
from exports.render.sniff import EVENT_LOG, SNIFF_BYTES, kind
from exports.render.stages import Meter
from exports.render.timeline import FRAMES_PER_SECOND, moments, outline
from exports.states import JobType, Phase

CANDIDATES = 12  # pictures of a video that a thumbnail is chosen from
DARK, FLAT = 18.0, 6.0  # mean and spread of brightness below which a picture tells nothing


def produce(job_type: JobType, source: BinaryIO, target: Path, meter: Meter, threads: int = 1) -> None:
    """Writes the target. The source must stand at its beginning, and be able to go back to it."""
    meter.at(Phase.PREPARING)
    found = kind(source.read(SNIFF_BYTES))
    source.seek(0)
    if job_type == JobType.MP4:
        make = _draw_video if found == EVENT_LOG else _convert_video
        make(source, found, target, meter, threads)
    else:
        choose = _draw_picture if found == EVENT_LOG else _choose_picture
        choose(source, found, meter).save(target, "PNG", optimize=True)


def _draw_video(source: BinaryIO, found: str, target: Path, meter: Meter, threads: int) -> None:
    header, records = eventlog.read(source)
    plan = outline(header, records)
    source.seek(0)
    header, records = eventlog.read(source)
    scene = Scene(header)

    def muxed(count: int) -> None:
        meter.at(Phase.RENDERING, count, plan.frames)

    with Encoder(target, WIDTH, HEIGHT, FRAMES_PER_SECOND, threads, muxed) as encoder:
        for moment in moments(header, records, plan.frames):
            scene.follow(moment)
            encoder.feed(scene.draw(moment).frame)


def _convert_video(source: BinaryIO, found: str, target: Path, meter: Meter, threads: int) -> None:
    with video.opened(source, found) as recording:

        def muxed(count: int) -> None:
            # A file may hold more than its header says: then the end is a little further away.
            meter.at(Phase.RENDERING, count, max(recording.frames, count))

        width, height = recording.width, recording.height
        with Encoder(target, width, height, recording.rate, threads, muxed) as encoder:
            for frame in video.paced(recording):
                encoder.feed(_plain(frame, width, height))


def _plain(frame: Any, width: int, height: int) -> Any:
    """The picture as the encoder wants it, always a new one: the old one may be shown again."""
    plain = frame.reformat(width, height, "yuv420p", dst_colorspace="ITU709", dst_color_range="MPEG")
    plain.pict_type = 0  # what the source's encoder chose must not bind ours
    return plain


def _draw_picture(source: BinaryIO, found: str, meter: Meter) -> Image.Image:
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


def _choose_picture(source: BinaryIO, found: str, meter: Meter) -> Image.Image:
    """The most telling of a few pictures spread over the video, never its first while there is another."""
    best: Image.Image | None = None
    best_weight = -1.0
    with video.opened(source, found) as recording:
        for turn in range(CANDIDATES):
            meter.at(Phase.RENDERING, turn, CANDIDATES)
            picture = _picture_at(recording, (turn + 1) / (CANDIDATES + 1))
            weight = _weight(picture) if picture else -1.0
            if picture and weight > best_weight:
                best, best_weight = picture, weight
    if best is None:
        raise eventlog.BadReplay("The video has no pictures.")
    return best


def _picture_at(recording: video.Recording, share: float) -> Image.Image | None:
    start = recording.stream.start_time or 0
    wanted = recording.seconds * share
    recording.container.seek(start + int(wanted / recording.stream.time_base), stream=recording.stream)
    origin = float(start * recording.stream.time_base)
    last = None
    for last in itertools.islice(video.frames(recording), 600):
        if last.time is None or last.time - origin >= wanted:
            break
    if last is None:
        return None
    picture: Image.Image = last.reformat(recording.width, recording.height, "rgb24").to_image()  # type: ignore[no-untyped-call]
    return picture


def _weight(picture: Image.Image) -> float:
    """How much there is to see: dark and flat pictures lose against any other."""
    grey = picture.convert("L").resize((160, 90))
    spread, mean = ImageStat.Stat(grey).stddev[0], ImageStat.Stat(grey).mean[0]
    seen = 0.05 if mean < DARK or spread < FLAT else 1.0
    return float(grey.entropy()) * seen
