"""Reads a video file that somebody sent: one demuxer, one file, few codecs, firm limits.

The demuxer gets an open file and not a name, may use no protocol, and is refused whenever it asks
for another file. Pictures are handed on one by one and kept nowhere: one of 3840×2160 has 12 MiB, and
the decoder holds up to sixteen of them already.
"""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

import av
from av.video.frame import VideoFrame

from exports.eventlog import MAX_DURATION_MS, BadReplay
from exports.render.detect import DEMUXERS

CODECS = frozenset({"h264", "hevc", "vp8", "vp9", "av1", "libdav1d", "mpeg4", "mjpeg"})
MAX_PIXELS = 3840 * 2160
MAX_SIDE = 8_192
MAX_RATE = 60
DEFAULT_RATE = 30


@dataclass(frozen=True, slots=True)
class Recording:
    container: Any
    stream: Any
    rate: int
    width: int
    height: int
    seconds: float
    picture_bytes: int  # of one, as the decoder keeps it

    @property
    def frames(self) -> int:
        return max(round(self.seconds * self.rate), 1)


@contextmanager
def opened(source: BinaryIO, kind: str) -> Iterator[Recording]:
    options = {"protocol_whitelist": "none", "max_streams": "16", "probesize": "5000000"}
    try:
        container: Any = av.open(source, "r", format=DEMUXERS[kind], options=options, io_open=_refuse_files)
    except (OSError, ValueError) as error:
        raise _unreadable("The video cannot be read", error) from None
    with container:
        yield _checked(container)


def frames(recording: Recording) -> Iterator[VideoFrame]:
    """The pictures as they come, each looked at before anything is done with it."""
    try:
        for packet in recording.container.demux(recording.stream):
            # PyAV's own loop would keep the last picture while the next one is decoded.
            decoded = packet.decode()
            decoded.reverse()
            while decoded:
                _check_size(decoded[-1].width, decoded[-1].height)
                yield decoded.pop()
    except (av.FFmpegError, OSError, ValueError) as error:
        if isinstance(error, BadReplay):
            raise
        raise _unreadable("The video cannot be read to its end", error) from None


def paced(
    recording: Recording, fit: Callable[[VideoFrame], VideoFrame], limit_ms: int = MAX_DURATION_MS
) -> Iterator[VideoFrame]:
    """The pictures at a constant rate: for each turn the newest one not after it, made fit at once."""
    turn, current, first = 0, None, None
    for frame in frames(recording):
        time = frame.time if frame.time is not None else turn / recording.rate
        first = time if first is None else first
        if (time - first) * 1000 > limit_ms:
            raise BadReplay(f"The video is longer than {limit_ms // 60_000} minutes.", too_large=True)
        while current is not None and turn / recording.rate < time - first:
            yield current
            turn += 1
        current = fit(frame)
        del frame  # or it would be kept while the next one is decoded
    if current is None:
        raise BadReplay("The video has no pictures.")
    yield current


def _checked(container: Any) -> Recording:
    if not container.streams.video:
        raise BadReplay("The file has no video in it.")
    stream = container.streams.video[0]
    codec = stream.codec_context
    if codec is None or codec.name not in CODECS:
        raise BadReplay("The video's codec is not one of H.264, HEVC, VP8, VP9, AV1, MPEG-4 or MJPEG.")
    _check_size(codec.width, codec.height)
    codec.thread_count = 1
    rate = stream.average_rate or stream.guessed_rate or DEFAULT_RATE
    duration = container.duration / av.time_base if container.duration else _measured(container, stream)
    if duration * 1000 > MAX_DURATION_MS:
        raise BadReplay(f"The video is longer than {MAX_DURATION_MS // 60_000} minutes.", too_large=True)
    return Recording(
        container,
        stream,
        min(max(round(float(rate)), 1), MAX_RATE),
        codec.width,
        codec.height,
        max(duration, 0.0),
        codec.width * codec.height * (codec.format.padded_bits_per_pixel if codec.format else 12) // 8,
    )


def _measured(container: Any, stream: Any) -> float:
    """The length of a file whose header does not say it, as of one that a browser recorded."""
    first, last = None, None
    try:
        for packet in container.demux(stream):
            if packet.pts is not None:
                first = packet.pts if first is None else min(first, packet.pts)
                last = packet.pts if last is None else max(last, packet.pts)
        container.seek(0)
    except (av.FFmpegError, OSError, ValueError) as error:
        raise _unreadable("The video cannot be read", error) from None
    return float((last - first) * stream.time_base) if first is not None and last is not None else 0.0


def fitted(width: int, height: int, box: tuple[int, int]) -> tuple[int, int]:
    """Inside the box, in proportion, with even sides as yuv420p needs."""
    share = min(box[0] / width, box[1] / height, 1.0)
    return max(int(width * share) // 2 * 2, 2), max(int(height * share) // 2 * 2, 2)


def _check_size(width: int, height: int) -> None:
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE and width * height <= MAX_PIXELS):
        raise BadReplay(
            f"A picture of {width}×{height} is above the limit of {MAX_PIXELS} pixels.", too_large=True
        )


def _refuse_files(url: str, flags: int, options: dict[str, str]) -> NoReturn:
    raise PermissionError("a replay may not open other files")


def _unreadable(what: str, error: Exception) -> Exception:
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return MemoryError()
    reason = str(getattr(error, "strerror", "") or error).splitlines()[0][:200] or type(error).__name__
    return BadReplay(f"{what}: {reason}.")
