"""Converts an uploaded video into one of our formats; or measures it.

Runs in a child process (sandbox_child.py), because a decoder is a large program that was not written for
hostile files. So nothing here may import Django.
"""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO

from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter
from PIL import Image, ImageStat

from exports.failures import BadReplay
from exports.render import gif, memory_budget, video
from exports.render.encoder import Encoder
from exports.render.options import Part, RenderOptions

CANDIDATES = 12  # pictures of a video from which the thumbnail is chosen
PICTURE_BOX = (1920, 1080)
MAX_DECODED = 600  # pictures decoded to get from a key frame to a candidate
DARK, FLAT = 18.0, 6.0  # mean and spread of brightness below which a picture shows nothing

ReportProgress = Callable[[int, int], None]  # frames done, and frames in all


def to_video(
    source: BinaryIO,
    kind: str,
    target: BinaryIO,
    report: ReportProgress,
    file_format: str,
    options: RenderOptions,
) -> None:
    """To MP4, WebM or GIF."""
    with video.open_recording(source, kind) as recording:
        _check_part(recording, options.part)
        is_gif = file_format == "GIF"
        rate = options.fps or (gif.FPS if is_gif else recording.rate)
        frames = recording.frames_of(options.part, rate)
        box = options.box(gif.BOX if is_gif else PICTURE_BOX)
        profile = memory_budget.choose_profile(
            recording.picture_bytes, max(frames, recording.frames), file_format
        )
        if profile is None:
            raise BadReplay("pictures_need_memory")
        size = video.fit_size(recording.width, recording.height, min(box, profile.box))

        def muxed(count: int) -> None:
            # A file may hold more frames than its header says.
            report(count, max(frames, count))

        def pictures(at_rate: int) -> Iterator[VideoFrame]:
            return video.at_constant_rate(
                recording, partial(_fit, VideoReformatter(), size), options.part, at_rate
            )

        encoder: Encoder | gif.GifEncoder
        if is_gif:
            palette = gif.palette_of(pictures(gif.sample_rate(frames, rate)))
            recording.seek(0)
            encoder = gif.GifEncoder(target, palette, size, rate, muxed)
        else:
            encoder = Encoder(target, file_format, size, rate, muxed, profile.x264)
        with encoder:
            for picture in pictures(rate):
                encoder.feed(picture)


def _fit(scaler: VideoReformatter, size: tuple[int, int], frame: VideoFrame) -> VideoFrame:
    # One thread: the sandbox allows no more.
    plain = scaler.reformat(
        frame,
        *size,
        "yuv420p",
        dst_colorspace=Colorspace.ITU709,
        dst_color_range=ColorRange.MPEG,
        threads=1,
    )
    plain.pict_type = 0  # our encoder chooses the picture types itself
    return plain


def _check_part(recording: video.Recording, part: Part) -> None:
    if part.start_ms and part.start_ms >= recording.seconds * 1000:
        raise BadReplay("part_beyond_end")


def measure_ms(source: BinaryIO, kind: str) -> int:
    """The length of the video. Its first picture is decoded, so that a file without one is refused."""
    with video.open_recording(source, kind) as recording:
        if next(video.frames(recording), None) is None:
            raise BadReplay("no_pictures")
        return round(recording.seconds * 1000)


def to_thumbnail(
    source: BinaryIO, kind: str, target: BinaryIO, report: ReportProgress, options: RenderOptions
) -> None:
    """The most detailed of a few pictures spread over the video; the first one only if there is no other."""
    best: Image.Image | None = None
    best_weight = -1.0
    part, box = options.part, options.box(PICTURE_BOX)
    with video.open_recording(source, kind) as recording:
        _check_part(recording, part)
        start = part.start_ms / 1000
        end = recording.seconds if part.end_ms is None else min(part.end_ms / 1000, recording.seconds)
        for index in range(CANDIDATES):
            seconds = start + (end - start) * (index + 1) / (CANDIDATES + 1)
            picture = _picture_at(recording, seconds, box, partial(report, index, CANDIDATES))
            weight = _weight(picture) if picture else -1.0
            if picture and weight > best_weight:
                best, best_weight = picture, weight
    if best is None:
        raise BadReplay("no_pictures")
    best.save(target, "PNG", optimize=True)


def _picture_at(
    recording: video.Recording, seconds: float, box: tuple[int, int], report: Callable[[], None]
) -> Image.Image | None:
    recording.seek(seconds)
    last = None
    for last in itertools.islice(video.frames(recording), MAX_DECODED):
        report()
        if last.time is None or last.time - recording.origin >= seconds:
            break
    if last is None:
        return None
    size = video.fit_size(recording.width, recording.height, box)
    small = last.reformat(*size, "rgb24", threads=1)
    picture: Image.Image = small.to_image()  # type: ignore[no-untyped-call]
    return picture


def _weight(picture: Image.Image) -> float:
    """The detail in a picture; dark and flat ones lose against any other."""
    grey = picture.convert("L").resize((160, 90))
    spread, mean = ImageStat.Stat(grey).stddev[0], ImageStat.Stat(grey).mean[0]
    factor = 0.05 if mean < DARK or spread < FLAT else 1.0
    return float(grey.entropy()) * factor
