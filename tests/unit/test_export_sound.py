"""The sound of a video in its exports: kept in time with the pictures, left out where it cannot be read."""

import array
import io
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import pytest

from exports.failures import BadReplay
from exports.options import check
from exports.render import convert, video
from exports.render.options import DEFAULTS, RenderOptions
from exports.render.produce import produce
from exports.render.progress import Meter
from exports.states import JobType
from jobs.errors import Invalid
from tests.unit.test_export_render import QUICKLY, log, video_of_frames

FPS, SECONDS = 25, 6
VIDEOS = (JobType.MP4, JobType.WEBM)
CODECS = {JobType.MP4: "aac", JobType.WEBM: "opus"}
SOURCES = {
    "a.mp4": ("libx264", "aac", 44_100, "stereo"),
    "a.webm": ("libvpx-vp9", "libopus", 48_000, "stereo"),
    "a.mkv": ("libx264", "flac", 44_100, "5.1"),
    "a.avi": ("mpeg4", "mp3", 44_100, "mono"),
    "a.mov": ("mpeg4", "pcm_s16le", 22_050, "stereo"),
}

# Each source, and the second type with those whose sound differs most.
EXPORTS = [*((name, JobType.MP4) for name in SOURCES), *((name, JobType.WEBM) for name in ("a.mkv", "a.avi"))]


def film(path: Path, codec: str, audio: str, rate: int = 48_000, layout: str = "stereo") -> Path:
    """Each second begins with a fifth of a second of white and of a tone; then black, and silence."""
    with av.open(str(path), "w") as out:
        pictures: Any = out.add_stream(codec, rate=FPS, options=QUICKLY.get(codec))
        pictures.width, pictures.height, pictures.pix_fmt = 64, 48, "yuv420p"
        sound: Any = out.add_stream(audio, rate=rate)
        sound.codec_context.layout = layout
        channels = sound.codec_context.layout.nb_channels
        count = rate // FPS
        tone = [round(20_000 * math.sin(k * 2 * math.pi * 1_000 / rate)) for k in range(count)]
        for index in range(SECONDS * FPS):
            on = index % FPS < FPS // 5
            picture = av.VideoFrame(64, 48, "gray")
            picture.planes[0].update(bytes([255 * on]) * picture.planes[0].buffer_size)
            out.mux(pictures.encode(picture.reformat(format="yuv420p")))
            samples = av.AudioFrame("s16", layout, count)
            samples.planes[0].update(
                array.array("h", [s * on for s in tone for _ in range(channels)]).tobytes()
            )
            samples.sample_rate, samples.pts = rate, index * count
            samples.time_base = Fraction(1, rate)
            out.mux(sound.encode(samples))
        out.mux(pictures.encode(None))
        out.mux(sound.encode(None))
    return path


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("films")
    return {name: film(folder / name, *how) for name, how in SOURCES.items()}


def changed(source: Path, target: Path, change: Callable[[float, bytes], bytes | None]) -> Path:
    """The same film, with other packets of sound; None leaves one out."""
    with av.open(str(source)) as old, av.open(str(target), "w") as new:
        streams = {stream.index: new.add_stream_from_template(stream) for stream in old.streams}
        for packet in old.demux():
            if packet.dts is None or packet.pts is None:
                continue
            data: bytes | None = bytes(packet)
            if packet.stream.type == "audio":
                data = change(float(packet.pts * packet.time_base), bytes(packet))
            if data is not None:
                copy = av.Packet(data)
                copy.pts, copy.dts, copy.time_base = packet.pts, packet.dts, packet.time_base
                copy.duration, copy.is_keyframe = packet.duration, packet.is_keyframe
                copy.stream = streams[packet.stream.index]
                new.mux(copy)
    return target


def export(
    source: Path, target: Path, job_type: JobType = JobType.MP4, options: RenderOptions = DEFAULTS
) -> str | None:
    target.unlink(missing_ok=True)
    with source.open("rb") as file:
        return produce(job_type, file, target, Meter(lambda report: None), options)


def sound_of(path: Path) -> Any:
    with av.open(str(path)) as container:
        stream = next(iter(container.streams.audio), None)
        return stream and (stream.codec_context.name, stream.codec_context.layout.name)


def flashes(path: Path) -> list[float]:
    """When white begins."""
    with av.open(str(path)) as container:
        bright = [
            (frame.time or 0.0, bytes(frame.reformat(format="gray").planes[0])[0] > 128)
            for frame in container.decode(video=0)
        ]
    return [time for index, (time, on) in enumerate(bright) if on and not (index and bright[index - 1][1])]


def tones(path: Path) -> tuple[list[float], float]:
    """When tones begin, and how long the sound is."""
    begun, last, end = list[float](), -1.0, 0.0
    resampler = av.AudioResampler("s16", "mono", 48_000)
    with av.open(str(path)) as container:
        for frame in container.decode(audio=0):
            for piece in resampler.resample(frame):
                samples = array.array("h", bytes(piece.planes[0])[: piece.samples * 2])
                for start in range(0, len(samples), 96):
                    time = (piece.time or 0.0) + start / 48_000
                    if max(samples[start : start + 96], default=0) > 3_000:
                        if time - last > 0.1:
                            begun.append(time)
                        last = time
                end = (piece.time or 0.0) + len(samples) / 48_000
    return begun, end


def near(times: list[float], within: float = 0.03) -> Any:
    return pytest.approx(times, abs=within)


@pytest.mark.parametrize(("name", "job_type"), EXPORTS)
def test_the_sound_is_kept_in_time_with_the_pictures(films, tmp_path, name, job_type) -> None:
    assert export(films[name], tmp_path / "out", job_type) is None
    layout = "mono" if name == "a.avi" else "stereo"
    assert sound_of(tmp_path / "out") == (CODECS[job_type], layout)
    begun, end = tones(tmp_path / "out")
    assert len(begun) == SECONDS
    assert begun == near(flashes(tmp_path / "out"), 1.5 / FPS)
    assert end == pytest.approx(SECONDS, abs=0.1)


@pytest.mark.parametrize(("name", "job_type"), EXPORTS)
def test_a_part_has_the_sound_of_its_time(films, tmp_path, name, job_type) -> None:
    options = RenderOptions(from_ms=2_500, to_ms=4_700)
    assert export(films[name], tmp_path / "out", job_type, options) is None
    begun, end = tones(tmp_path / "out")
    assert begun == near([0.5, 1.5])
    assert begun == near(flashes(tmp_path / "out"), 1.5 / FPS)
    assert end == pytest.approx(2.2, abs=0.03)


def test_a_part_from_the_first_key_frame_misses_no_sound(films, tmp_path) -> None:
    assert export(films["a.mp4"], tmp_path / "out", options=RenderOptions(from_ms=40, to_ms=1_500)) is None
    assert tones(tmp_path / "out")[0] == near([0.0, 0.96])
    with films["a.mp4"].open("rb") as source, video.open_recording(source, "mp4") as recording:
        assert next(video.frames_from(recording, 0.04)).time == 0


@pytest.mark.parametrize("job_type", VIDEOS)
def test_the_sound_can_be_left_out(films, tmp_path, job_type) -> None:
    assert export(films["a.mp4"], tmp_path / "out", job_type, RenderOptions(sound=False)) is None
    assert sound_of(tmp_path / "out") is None
    assert len(flashes(tmp_path / "out")) == SECONDS


@pytest.mark.parametrize("job_type", VIDEOS)
def test_a_video_without_sound_stays_without(tmp_path, job_type) -> None:
    video_of_frames(tmp_path / "a.mp4").close()
    assert export(tmp_path / "a.mp4", tmp_path / "out", job_type, RenderOptions(sound=True)) is None
    assert sound_of(tmp_path / "out") is None


def test_an_event_log_has_no_sound(tmp_path) -> None:
    source = io.BytesIO(log(1).getvalue())
    options = RenderOptions(sound=True)
    assert produce(JobType.MP4, source, tmp_path / "out", Meter(lambda report: None), options) is None
    assert sound_of(tmp_path / "out") is None


def test_sound_that_begins_late_and_has_a_gap_stays_in_time(films, tmp_path) -> None:
    source = changed(
        films["a.mkv"], tmp_path / "a.mkv", lambda at, data: data if 1.5 < at < 2.5 or at > 4 else None
    )
    assert export(source, tmp_path / "out") is None
    assert tones(tmp_path / "out")[0] == near([2.0, 4.1, 5.0], 0.1)


def test_a_part_after_the_end_of_the_sound_is_silent(films, tmp_path) -> None:
    source = changed(films["a.mkv"], tmp_path / "a.mkv", lambda at, data: data if at < 1.5 else None)
    assert export(source, tmp_path / "out", options=RenderOptions(from_ms=3_000)) is None
    assert len(flashes(tmp_path / "out")) == 3
    if sound_of(tmp_path / "out"):
        assert tones(tmp_path / "out")[0] == []


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.avi"])
def test_sound_that_cannot_be_read_is_left_out(films, tmp_path, name) -> None:
    source = changed(films[name], tmp_path / name, lambda at, data: bytes(len(data)))
    assert export(source, tmp_path / "out") == "sound_unreadable"
    assert sound_of(tmp_path / "out") is None
    assert len(flashes(tmp_path / "out")) == SECONDS


def test_a_part_of_the_sound_that_cannot_be_read_is_silent(films, tmp_path) -> None:
    source = changed(
        films["a.mkv"], tmp_path / "a.mkv", lambda at, data: bytes(len(data)) if 1.5 < at < 3.5 else data
    )
    assert export(source, tmp_path / "out") == "sound_gaps"
    assert tones(tmp_path / "out")[0] == near([0.0, 1.0, 4.0, 5.0])


def test_a_codec_that_is_not_allowed_is_left_out(tmp_path) -> None:
    source = film(tmp_path / "a.mkv", "libx264", "tta")
    assert export(source, tmp_path / "out") == "sound_codec"
    assert sound_of(tmp_path / "out") is None


def test_pictures_go_before_sound_when_there_is_no_memory_for_both() -> None:
    def keeps_sound(picture_bytes: int, frames: int) -> bool:
        recording: Any = SimpleNamespace(
            picture_bytes=picture_bytes,
            frames=frames,
            frames_of=lambda part, rate: frames,
            seconds=frames / 30,
            rate=30,
            width=3840,
            height=2160,
        )
        return convert.Plan(recording, "MP4", DEFAULTS, lambda done, total: None, True).has_sound

    picture = 3840 * 2160 * 3  # with 10 bits
    assert keeps_sound(picture, 10_000)
    assert not keeps_sound(picture, 200_000)
    with pytest.raises(BadReplay, match="too large"):
        keeps_sound(picture, 864_000)


def test_a_video_without_memory_for_its_sound_says_so(films, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(convert, "PACKETS_A_SECOND", 10**7)
    with films["a.mp4"].open("rb") as source, (tmp_path / "out").open("w+b") as target:
        note = convert.to_video(source, "mp4", target, lambda done, total: None, "MP4", DEFAULTS)
    assert note == "sound_needs_memory"
    assert sound_of(tmp_path / "out") is None


@pytest.mark.parametrize("job_type", [JobType.GIF, JobType.THUMBNAIL])
@pytest.mark.parametrize("sound", [True, False])
def test_a_type_without_sound_refuses_the_option(job_type, sound) -> None:
    with pytest.raises(Invalid) as refused:
        check(job_type, RenderOptions(sound=sound), 5_000)
    assert set(refused.value.errors) == {"sound"}
    check(job_type, DEFAULTS, 5_000)
