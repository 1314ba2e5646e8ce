"""Reads an uploaded video: one demuxer, one file, few codecs, fixed limits.

The demuxer gets an open file instead of a name, may use no protocol, and may not open another file.
Pictures are handed on one by one and not kept: one of 3840×2160 has 12 MiB, and the decoder already holds
up to sixteen of them.
"""

import errno
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

import av
from av.video.frame import VideoFrame

from exports.eventlog import MAX_DURATION_MS
from exports.failures import BadReplay
from exports.render.detect import DEMUXERS
from exports.render.options import Part
from jobs.texts import first_line

CODECS = frozenset({"h264", "hevc", "vp8", "vp9", "av1", "libdav1d", "mpeg4", "mjpeg"})
MAX_PIXELS = 3840 * 2160
MAX_SIDE = 8_192
MAX_RATE = 60
DEFAULT_RATE = 30
ROUNDING = 1e-4  # seconds; differences of times are not exact
# The sound of a part is decoded from a little earlier, since most codecs need the packets before.
PREROLL_SECONDS = 0.1

OnSound = Callable[[Any], None]  # takes a packet of the sound


@dataclass(frozen=True, slots=True)
class Recording:
    container: Any
    stream: Any
    rate: int
    width: int
    height: int
    seconds: float
    picture_bytes: int  # of one decoded picture

    @property
    def sound(self) -> Any:
        """Its first track of sound, or None."""
        return next(iter(self.container.streams.audio), None)

    @property
    def frames(self) -> int:
        return max(round(self.seconds * self.rate), 1)

    def frames_of(self, part: Part, rate: int) -> int:
        """The number of pictures of a part of the video at this rate."""
        end = self.seconds if part.end_ms is None else min(part.end_ms / 1000, self.seconds)
        return max(round((end - part.start_ms / 1000) * rate), 1)

    @property
    def origin(self) -> float:
        """The time of its start, in the clock of its pictures."""
        return float((self.stream.start_time or 0) * self.stream.time_base)

    def seek(self, seconds: float) -> None:
        """Goes to the last key frame at or before this time after its start."""
        start = self.stream.start_time or 0
        self.container.seek(start + int(seconds / self.stream.time_base), stream=self.stream)


@contextmanager
def open_recording(source: BinaryIO, kind: str) -> Iterator[Recording]:
    options = {"protocol_whitelist": "none", "max_streams": "16", "probesize": "5000000"}
    try:
        container: Any = av.open(source, "r", format=DEMUXERS[kind], options=options, io_open=_refuse_files)
    except (OSError, ValueError) as error:
        raise _unreadable("unreadable", error) from None
    with container:
        yield _open_recording(container)


def frames(recording: Recording, on_sound: OnSound | None = None) -> Iterator[VideoFrame]:
    """The decoded pictures; the size of each is checked first. The packets of its sound go to `on_sound`."""
    packets = recording.container.demux(recording.stream, *([recording.sound] if on_sound else []))
    while (packet := _next_packet(packets)) is not None:
        if on_sound and packet.stream.type == "audio":
            on_sound(packet)
            continue
        with _reading_to_end():
            # PyAV's own loop would keep the last picture while it decodes the next.
            decoded = packet.decode()
        decoded.reverse()
        while decoded:
            _check_size(decoded[-1].width, decoded[-1].height)
            yield decoded.pop()


def sound_packets(recording: Recording) -> Iterator[Any]:
    """The packets of its sound from here on."""
    packets = recording.container.demux(recording.sound)
    while (packet := _next_packet(packets)) is not None:
        yield packet


def _next_packet(packets: Iterator[Any]) -> Any:
    with _reading_to_end():
        return next(packets, None)


@contextmanager
def _reading_to_end() -> Iterator[None]:
    try:
        yield
    except (av.FFmpegError, OSError, ValueError) as error:
        raise _unreadable("unreadable_to_end", error) from None


def at_constant_rate(
    recording: Recording,
    fit: Callable[[VideoFrame], VideoFrame],
    part: Part,
    rate: int,
    on_sound: OnSound | None = None,
) -> Iterator[VideoFrame]:
    """The pictures at a constant rate: for each output frame the newest picture not after it, fitted."""
    end = math.inf if part.end_ms is None else (part.end_ms - part.start_ms) * rate / 1000
    index, current, time = 0, None, 0.0
    first = recording.origin + part.start_ms / 1000 if part.start_ms or on_sound else None
    for frame in frames_from(recording, part.start_ms / 1000, on_sound):
        time = frame.time if frame.time is not None else (first or 0.0) + index / rate
        first = time if first is None else first
        if (time - first) * 1000 > MAX_DURATION_MS:
            raise BadReplay("video_too_long", minutes=MAX_DURATION_MS // 60_000)
        while current is not None and index / rate + ROUNDING < time - first:
            yield current
            index += 1
            if index >= end:
                return
        current = fit(frame)
        del frame  # otherwise it stays in memory while the next one is decoded
    if current is None:
        raise BadReplay("no_pictures")
    # The last picture lasts as long as any other.
    if not index or index / rate < time - (first or 0.0) + 1 / recording.rate:
        yield current


def frames_from(
    recording: Recording, seconds: float, on_sound: OnSound | None = None
) -> Iterator[VideoFrame]:
    """The decoded pictures from the key frame before this time on."""
    if seconds:
        before = max(seconds - PREROLL_SECONDS, 0)
        recording.seek(before)
        picture = next(frames(recording), None)
        is_before = picture and picture.time is not None and picture.time <= recording.origin + seconds
        del picture
        # In a file without an index the seek may go too far.
        recording.seek(before if is_before else 0)
    yield from frames(recording, on_sound)


def _open_recording(container: Any) -> Recording:
    if not container.streams.video:
        raise BadReplay("no_video")
    stream = container.streams.video[0]
    codec = stream.codec_context
    if codec is None or codec.name not in CODECS:
        raise BadReplay("bad_codec")
    _check_size(codec.width, codec.height)
    codec.thread_count = 1
    rate = stream.average_rate or stream.guessed_rate or DEFAULT_RATE
    duration = (
        container.duration / av.time_base if container.duration else _measure_seconds(container, stream)
    )
    if duration * 1000 > MAX_DURATION_MS:
        raise BadReplay("video_too_long", minutes=MAX_DURATION_MS // 60_000)
    return Recording(
        container,
        stream,
        min(max(round(float(rate)), 1), MAX_RATE),
        codec.width,
        codec.height,
        max(duration, 0.0),
        codec.width * codec.height * (codec.format.padded_bits_per_pixel if codec.format else 12) // 8,
    )


def _measure_seconds(container: Any, stream: Any) -> float:
    """The length of a file whose header lacks it, as in recordings of a browser."""
    first, last = None, None
    try:
        for packet in container.demux(stream):
            if packet.pts is not None:
                first = packet.pts if first is None else min(first, packet.pts)
                last = packet.pts if last is None else max(last, packet.pts)
        container.seek(0)
    except (av.FFmpegError, OSError, ValueError) as error:
        raise _unreadable("unreadable", error) from None
    return float((last - first) * stream.time_base) if first is not None and last is not None else 0.0


def fit_size(width: int, height: int, box: tuple[int, int]) -> tuple[int, int]:
    """The largest size in the box with the same proportions; yuv420p needs even sides."""
    share = min(box[0] / width, box[1] / height, 1.0)
    return max(int(width * share) // 2 * 2, 2), max(int(height * share) // 2 * 2, 2)


def _check_size(width: int, height: int) -> None:
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE and width * height <= MAX_PIXELS):
        raise BadReplay("picture_too_large", size=f"{width}×{height}", limit=MAX_PIXELS)


def _refuse_files(url: str, flags: int, options: dict[str, str]) -> NoReturn:
    raise PermissionError("a replay may not open other files")


def _unreadable(code: str, error: Exception) -> Exception:
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return MemoryError()
    return BadReplay(code, reason=first_line(getattr(error, "strerror", "") or error)[:200])
