"""Turns a video that somebody sent into our MP4, or into a picture of it.

Runs in a process of its own (child.py), for a decoder is a large program that was not written for
hostile files. So nothing here may import Django.
"""

import itertools
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter
from PIL import Image, ImageStat

from exports.eventlog import BadReplay
from exports.render import memory_budget, video
from exports.render.encoder import Encoder

CANDIDATES = 12  # pictures of a video that a thumbnail is chosen from
PICTURE_BOX = (1920, 1080)
LOOKED_AT = 600  # pictures decoded at most to get from a key frame to a candidate
DARK, FLAT = 18.0, 6.0  # mean and spread of brightness below which a picture tells nothing

Told = Callable[[int, int], None]  # how much is done, of how much


def film(source: BinaryIO, kind: str, target: BinaryIO, told: Told) -> None:
    with video.opened(source, kind) as recording:

        def muxed(count: int) -> None:
            # A file may hold more than its header says: then the end is a little further away.
            told(count, max(recording.frames, count))

        manner = memory_budget.manner(recording.picture_bytes, recording.frames)
        if manner is None:
            raise BadReplay(
                "The video's pictures are too large, or it is too long for pictures of that size.",
                too_large=True,
            )
        width, height = video.fitted(recording.width, recording.height, manner.box)
        scaler = VideoReformatter()

        def fit(frame: VideoFrame) -> VideoFrame:
            # One thread: no other may be started here.
            plain = scaler.reformat(
                frame,
                width,
                height,
                "yuv420p",
                dst_colorspace=Colorspace.ITU709,
                dst_color_range=ColorRange.MPEG,
                threads=1,
            )
            plain.pict_type = 0  # what the source's encoder chose must not bind ours
            return plain

        with Encoder(target, width, height, recording.rate, 1, muxed, manner.x264) as encoder:
            for frame in video.paced(recording, fit):
                encoder.feed(frame)


def picture(source: BinaryIO, kind: str, target: BinaryIO, told: Told) -> None:
    """The most telling of a few pictures spread over the video, never its first while there is another."""
    best: Image.Image | None = None
    best_weight = -1.0
    with video.opened(source, kind) as recording:
        for turn in range(CANDIDATES):
            found = _picture_at(recording, (turn + 1) / (CANDIDATES + 1), partial(told, turn, CANDIDATES))
            weight = _weight(found) if found else -1.0
            if found and weight > best_weight:
                best, best_weight = found, weight
    if best is None:
        raise BadReplay("The video has no pictures.")
    best.save(target, "PNG", optimize=True)


def _picture_at(recording: video.Recording, share: float, alive: Callable[[], None]) -> Image.Image | None:
    start = recording.stream.start_time or 0
    wanted = recording.seconds * share
    recording.container.seek(start + int(wanted / recording.stream.time_base), stream=recording.stream)
    origin = float(start * recording.stream.time_base)
    last = None
    for last in itertools.islice(video.frames(recording), LOOKED_AT):
        alive()
        if last.time is None or last.time - origin >= wanted:
            break
    if last is None:
        return None
    size = video.fitted(recording.width, recording.height, PICTURE_BOX)
    small = last.reformat(*size, "rgb24", threads=1)
    found: Image.Image = small.to_image()  # type: ignore[no-untyped-call]
    return found


def _weight(found: Image.Image) -> float:
    """How much there is to see: dark and flat pictures lose against any other."""
    grey = found.convert("L").resize((160, 90))
    spread, mean = ImageStat.Stat(grey).stddev[0], ImageStat.Stat(grey).mean[0]
    seen = 0.05 if mean < DARK or spread < FLAT else 1.0
    return float(grey.entropy()) * seen
