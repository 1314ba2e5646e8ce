"""Converts an uploaded video into one of our formats; or measures it.

Runs in a child process (sandbox_child.py), because a decoder is a large program that was not written for
hostile files. So nothing here may import Django.
"""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO

from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter
from PIL import Image, ImageStat

from exports.failures import BadReplay
from exports.render import gif, memory_budget, video
from exports.render.encoder import Encoder
from exports.render.options import Part, RenderOptions
from exports.render.sound import PACKETS_A_SECOND, Sound, examine

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
) -> str | None:
    """To MP4, WebM or GIF. Answers one of failures.NOTES, or None."""
    has_sound, note = False, None
    if file_format != "GIF" and options.sound is not False:
        has_sound, note = _examine_sound(source, kind, options.part)
    with video.open_recording(source, kind) as recording:
        _check_part(recording, options.part)
        plan = Plan(recording, file_format, options, report, has_sound)
        if file_format == "GIF":
            _write_gif(plan, target)
        elif plan.has_sound:
            sound = Sound(recording.sound, recording.origin, options.part, recording.seconds)
            _write_video(plan, target, sound)
            note = "sound_gaps" if sound.broken else None
        else:
            _write_video(plan, target)
            note = "sound_needs_memory" if has_sound else note
    return note


class Plan:
    """What becomes of a recording: its part, size and rate, and whether its sound is kept."""

    def __init__(
        self,
        recording: video.Recording,
        file_format: str,
        options: RenderOptions,
        report: ReportProgress,
        has_sound: bool,
    ) -> None:
        self.recording, self.format, self._part, self._report = recording, file_format, options.part, report
        is_gif = file_format == "GIF"
        self.rate = options.fps or (gif.FPS if is_gif else recording.rate)
        self.frames = recording.frames_of(options.part, self.rate)
        self.has_sound, profile = self._choose_profile(has_sound)
        self.x264 = profile.x264
        box = min(options.box(gif.BOX if is_gif else PICTURE_BOX), profile.box)
        self.size = video.fit_size(recording.width, recording.height, box)

    def _choose_profile(self, has_sound: bool) -> tuple[bool, memory_budget.EncodingProfile]:
        """Pictures of any size before the sound, if there is no memory for both."""
        frames = max(self.frames, self.recording.frames)
        for with_sound in (True, False) if has_sound else (False,):
            packets = round(self.recording.seconds * PACKETS_A_SECOND) if with_sound else 0
            profile = memory_budget.choose_profile(
                self.recording.picture_bytes, frames + packets, self.format
            )
            if profile:
                return with_sound, profile
        raise BadReplay("pictures_need_memory")

    def report(self, count: int) -> None:
        # A file may hold more frames than its header says.
        self._report(count, max(self.frames, count))

    def pictures(self, rate: int, on_sound: video.OnSound | None = None) -> Iterator[VideoFrame]:
        fit = partial(_fit, VideoReformatter(), self.size)
        return video.at_constant_rate(self.recording, fit, self._part, rate, on_sound)


def _write_gif(plan: Plan, target: BinaryIO) -> None:
    palette = gif.palette_of(plan.pictures(gif.sample_rate(plan.frames, plan.rate)))
    plan.recording.seek(0)
    with gif.GifEncoder(target, palette, plan.size, plan.rate, plan.report) as encoder:
        for picture in plan.pictures(plan.rate):
            encoder.feed(picture)


def _write_video(plan: Plan, target: BinaryIO, sound: Sound | None = None) -> None:
    with Encoder(target, plan.format, plan.size, plan.rate, plan.report, plan.x264) as encoder:
        if sound is None:
            for picture in plan.pictures(plan.rate):
                encoder.feed(picture)
            return
        encoder.add_sound(sound.layout)

        def on_sound(packet: Any) -> None:
            for piece in sound.pieces(packet):
                encoder.feed_sound(piece)

        for picture in plan.pictures(plan.rate, on_sound):
            encoder.feed(picture)
        # The sound of a part may follow its last picture in the file.
        for packet in video.sound_packets(plan.recording):
            if sound.ended:
                break
            on_sound(packet)


def _examine_sound(source: BinaryIO, kind: str, part: Part) -> tuple[bool, str | None]:
    """In a container of its own, so that nothing of the sound is missing in the other."""
    answer: tuple[bool, str | None] = False, None
    with video.open_recording(source, kind) as recording:
        if recording.sound is not None:
            if part.start_ms:
                recording.seek(part.start_ms / 1000)
            answer = examine(recording.sound, video.sound_packets(recording))
    source.seek(0)
    return answer


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
