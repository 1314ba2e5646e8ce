"""Converts an uploaded video into our MP4, or into a thumbnail; or measures it.

Runs in a child process (sandbox_child.py), because a decoder is a large program that was not written for
hostile files. So nothing here may import Django.
"""

import itertools
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter
from PIL import Image, ImageStat

from exports.failures import BadReplay
from exports.render import memory_budget, video
from exports.render.encoder import Encoder

CANDIDATES = 12  # pictures of a video from which the thumbnail is chosen
PICTURE_BOX = (1920, 1080)
MAX_DECODED = 600  # pictures decoded to get from a key frame to a candidate
DARK, FLAT = 18.0, 6.0  # mean and spread of brightness below which a picture shows nothing

ReportProgress = Callable[[int, int], None]  # frames done, and frames in all


def to_mp4(source: BinaryIO, kind: str, target: BinaryIO, report: ReportProgress) -> None:
    with video.open_recording(source, kind) as recording:

        def muxed(count: int) -> None:
            # A file may hold more frames than its header says.
            report(count, max(recording.frames, count))

        profile = memory_budget.choose_profile(recording.picture_bytes, recording.frames)
        if profile is None:
            raise BadReplay("pictures_need_memory")
        width, height = video.fit_size(recording.width, recording.height, profile.box)
        scaler = VideoReformatter()

        def fit(frame: VideoFrame) -> VideoFrame:
            # One thread: the sandbox allows no more.
            plain = scaler.reformat(
                frame,
                width,
                height,
                "yuv420p",
                dst_colorspace=Colorspace.ITU709,
                dst_color_range=ColorRange.MPEG,
                threads=1,
            )
            plain.pict_type = 0  # our encoder chooses the picture types itself
            return plain

        with Encoder(target, width, height, recording.rate, muxed, profile.x264) as encoder:
            for frame in video.at_constant_rate(recording, fit):
                encoder.feed(frame)


def measure_ms(source: BinaryIO, kind: str) -> int:
    """The length of the video. Its first picture is decoded, so that a file without one is refused."""
    with video.open_recording(source, kind) as recording:
        if next(video.frames(recording), None) is None:
            raise BadReplay("no_pictures")
        return round(recording.seconds * 1000)


def to_thumbnail(source: BinaryIO, kind: str, target: BinaryIO, report: ReportProgress) -> None:
    """The most detailed of a few pictures spread over the video; the first one only if there is no other."""
    best: Image.Image | None = None
    best_weight = -1.0
    with video.open_recording(source, kind) as recording:
        for index in range(CANDIDATES):
            share = (index + 1) / (CANDIDATES + 1)
            picture = _picture_at(recording, share, partial(report, index, CANDIDATES))
            weight = _weight(picture) if picture else -1.0
            if picture and weight > best_weight:
                best, best_weight = picture, weight
    if best is None:
        raise BadReplay("no_pictures")
    best.save(target, "PNG", optimize=True)


def _picture_at(recording: video.Recording, share: float, report: Callable[[], None]) -> Image.Image | None:
    start = recording.stream.start_time or 0
    seconds = recording.seconds * share
    recording.container.seek(start + int(seconds / recording.stream.time_base), stream=recording.stream)
    origin = float(start * recording.stream.time_base)
    last = None
    for last in itertools.islice(video.frames(recording), MAX_DECODED):
        report()
        if last.time is None or last.time - origin >= seconds:
            break
    if last is None:
        return None
    size = video.fit_size(recording.width, recording.height, PICTURE_BOX)
    small = last.reformat(*size, "rgb24", threads=1)
    picture: Image.Image = small.to_image()  # type: ignore[no-untyped-call]
    return picture


def _weight(picture: Image.Image) -> float:
    """The detail in a picture; dark and flat ones lose against any other."""
    grey = picture.convert("L").resize((160, 90))
    spread, mean = ImageStat.Stat(grey).stddev[0], ImageStat.Stat(grey).mean[0]
    factor = 0.05 if mean < DARK or spread < FLAT else 1.0
    return float(grey.entropy()) * factor
