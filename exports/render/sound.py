"""The sound of an uploaded video: decoded, in time with the pictures, for our own encoder.

Like the pictures it is encoded again even where its codec would do: so a part begins and ends exactly, and
a packet that cannot be decoded is found here, not by the players of the file.
"""

import errno
from collections.abc import Iterator
from typing import Any

import av
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler

from exports.render.options import Part

CODECS = {
    "aac", "mp2", "mp2float", "mp3", "mp3float", "opus", "libopus", "vorbis", "flac", "alac", "ac3", "eac3",
    "pcm_u8", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_s32be", "pcm_f32le",
    "pcm_f32be",
}  # fmt: skip
RATE = 48_000  # Opus has no 44,100
PACKETS_A_SECOND = 50  # of the usual codecs, and of ours
SAMPLES = "flt"
SAMPLE_BYTES = 4
LOWEST_RATE, HIGHEST_RATE = 8_000, 192_000
MOST_CHANNELS = 8
LARGEST_PACKET = 2**20
# Packets that are decoded to see whether the sound can be read.
PROBED_PACKETS = 50
# Times are rounded to milliseconds in some files. What is off by less goes on without a gap.
TOLERANCE = RATE // 25
SILENCE = RATE // 10  # samples in one piece of silence


class Unreadable(Exception):
    """The packet cannot be decoded."""


def examine(stream: Any, packets: Iterator[Any]) -> tuple[bool, str | None]:
    """Whether the sound can be decoded; why not, unless there is none."""
    codec = stream.codec_context
    if codec is None or codec.name not in CODECS:
        return False, "sound_codec"
    codec.thread_count = 1
    broken = 0
    for packet in packets:
        try:
            if _decode(packet):
                return True, None
        except Unreadable:
            broken += 1
        if broken >= PROBED_PACKETS:
            break
    return False, "sound_unreadable" if broken else None


class Sound:
    """Feeds the samples of a part, from its start to its end without gaps, as 48 kHz in mono or stereo."""

    def __init__(self, stream: Any, origin: float, part: Part, seconds: float) -> None:
        stream.codec_context.thread_count = 1
        self.layout = "mono" if stream.codec_context.layout.nb_channels == 1 else "stereo"
        self.broken = self.ended = False
        self._frame_bytes = SAMPLE_BYTES * (1 if self.layout == "mono" else 2)
        self._start = origin + part.start_ms / 1000
        end = seconds if part.end_ms is None else min(part.end_ms / 1000, seconds)
        self._length = max(round((end - part.start_ms / 1000) * RATE), 1)
        self._resampler: AudioResampler | None = None
        self._shape: tuple[str, str, int] | None = None
        self._position = 0

    def pieces(self, packet: Any) -> Iterator[AudioFrame]:
        """The next pieces of the sound. A packet that cannot be decoded is silent."""
        if self.ended:
            return
        try:
            decoded = _decode(packet)
        except Unreadable:
            # What comes before the part may refer to packets that were not read.
            at = None if packet.pts is None else float(packet.pts * packet.time_base)
            self.broken = self.broken or at is None or at >= self._start
            return
        for frame in decoded:
            for piece in self._resample(frame):
                yield from self._place(piece)
        if _is_end(packet):
            for piece in self._flush():
                yield from self._place(piece)
            if not self._position:  # players do not expect a track without samples
                yield self._frame(bytes(SILENCE * self._frame_bytes))
            self.ended = True

    def _resample(self, frame: AudioFrame) -> list[AudioFrame]:
        shape = frame.format.name, frame.layout.name, frame.sample_rate
        pieces: list[AudioFrame] = []
        if self._resampler is None or shape != self._shape:
            pieces = self._flush()
            self._shape = shape
            self._resampler = AudioResampler(SAMPLES, self.layout, RATE)
        return pieces + self._resampler.resample(frame)

    def _flush(self) -> list[AudioFrame]:
        return self._resampler.resample(None) if self._resampler else []

    def _place(self, piece: AudioFrame) -> Iterator[AudioFrame]:
        """Where its time says: silence before it fills a gap, and samples that come too late are left out."""
        data = bytes(piece.planes[0])[: piece.samples * self._frame_bytes]
        at = self._position if piece.time is None else round((piece.time - self._start) * RATE)
        if self._position and abs(at - self._position) <= TOLERANCE:
            at = self._position
        data = data[max(self._position - at, 0) * self._frame_bytes :]
        if not data:
            return
        while self._position < min(at, self._length):
            count = min(at, self._length, self._position + SILENCE) - self._position
            yield self._frame(bytes(count * self._frame_bytes))
        data = data[: (self._length - self._position) * self._frame_bytes]
        if data:
            yield self._frame(data)
        self.ended = self._position >= self._length

    def _frame(self, data: bytes) -> AudioFrame:
        count = len(data) // self._frame_bytes
        frame = AudioFrame(SAMPLES, self.layout, count)
        frame.planes[0].update(data)
        frame.sample_rate, frame.pts = RATE, self._position
        self._position += count
        return frame


def _decode(packet: Any) -> list[AudioFrame]:
    """Raises Unreadable."""
    if packet.size > LARGEST_PACKET:
        raise Unreadable
    try:
        frames: list[AudioFrame] = packet.decode()
    except (av.FFmpegError, ValueError) as error:
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            raise MemoryError from None
        raise Unreadable from None
    if all(_fits(frame) for frame in frames):
        return frames
    raise Unreadable


def _is_end(packet: Any) -> bool:
    return not packet.size and packet.dts is None


def _fits(frame: AudioFrame) -> bool:
    return LOWEST_RATE <= frame.sample_rate <= HIGHEST_RATE and (
        0 < frame.layout.nb_channels <= MOST_CHANNELS
    )
