"""The renderer: the file has the frames that were drawn, and bad input is refused."""

import io
import itertools
import shutil
import struct
from pathlib import Path
from typing import Any, BinaryIO

import av
import pytest
from PIL import Image, ImageChops, ImageStat

from exports import eventlog, sample_replay
from exports.failures import BadReplay
from exports.render import text
from exports.render.detect import detect_kind
from exports.render.faststart import index_first
from exports.render.options import DEFAULTS, RenderOptions
from exports.render.produce import produce
from exports.render.progress import Cancelled, Meter, Report
from exports.render.scene import Scene
from exports.render.timeline import moments, outline
from exports.render.video import fit_size
from exports.states import JobType, Phase


def quiet(report: Report) -> None:
    pass


def log(seconds: float, **options) -> io.BytesIO:
    return io.BytesIO("\n".join(sample_replay.event_log(seconds, **options)).encode())


def render(
    source: BinaryIO,
    target: Path,
    job_type: JobType = JobType.MP4,
    send=quiet,
    options: RenderOptions = DEFAULTS,
) -> Path:
    """Renders as the Task does, up to the copy into place."""
    half_made = target.with_suffix(".half")
    half_made.unlink(missing_ok=True)
    produce(job_type, source, half_made, Meter(send), options)
    with half_made.open("rb") as made, target.open("wb") as out:
        shutil.copyfileobj(index_first(made), out)
    return target


# Encoders whose defaults take their time.
QUICKLY = {
    "libx264": {"preset": "ultrafast"},
    "libvpx": {"deadline": "realtime", "cpu-used": "8"},
    "libvpx-vp9": {"deadline": "realtime", "cpu-used": "8"},
}


def video_of_frames(
    target: Path,
    frames: int = 60,
    size: tuple[int, int] = (320, 240),
    codec="libx264",
    container=None,
    **options,
) -> BinaryIO:
    """A small video at 25 frames a second: black first, then a bright pattern that moves."""
    with av.open(str(target), "w", format=container, options=options) as out:
        stream = out.add_stream(codec, rate=25, options=QUICKLY.get(codec))
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        for index in range(frames):
            picture = Image.new("RGB", size)
            if index >= frames // 4:
                tile = Image.effect_noise((64, 64), 90).convert("RGB")
                picture.paste(tile, (index * 3 % size[0], 40))
                picture.paste((200, 60, 30), (0, 120, size[0], 200))
            out.mux(stream.encode(av.VideoFrame.from_image(picture)))
        out.mux(stream.encode(None))
    return target.open("rb")


def file_of(folder: Path, content: bytes) -> BinaryIO:
    path = folder / "upload"
    path.write_bytes(content)
    return path.open("rb")


def pictures(path: Path) -> list[Image.Image]:
    with av.open(str(path)) as container:
        return [frame.to_image() for frame in container.decode(video=0)]


def difference(a: Image.Image, b: Image.Image) -> float:
    return max(ImageStat.Stat(ImageChops.difference(a, b)).mean)


def brightness(picture: Image.Image) -> float:
    return ImageStat.Stat(picture.convert("L")).mean[0]


def test_an_event_log_becomes_h264_yuv420p_at_a_constant_rate_with_the_index_first(tmp_path: Path) -> None:
    path = render(log(2), tmp_path / "out.mp4")
    data = path.read_bytes()
    assert 0 < data.index(b"moov") < data.index(b"mdat")
    with av.open(str(path)) as container:
        stream: Any = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (stream.width, stream.height, stream.average_rate) == (1280, 720, 30)
        assert (container.duration or 0) / av.time_base == pytest.approx(2, abs=0.05)
        times = sorted(packet.pts for packet in container.demux(stream) if packet.pts is not None)
    assert len(times) == 60
    assert len({b - a for a, b in itertools.pairwise(times)}) == 1


def test_every_frame_of_the_file_is_as_drawn(tmp_path: Path) -> None:
    """Also proves that the encoder does not read the shared frame after feed()."""
    read_back = pictures(render(log(1), tmp_path / "out.mp4"))
    header, records = eventlog.read(log(1))
    plan = outline(header, records)
    header, records = eventlog.read(log(1))
    scene, earlier = Scene(header), None
    assert len(read_back) == plan.frames
    for moment, decoded in zip(moments(header, records, plan.frames), read_back, strict=True):
        scene.follow(moment)
        drawn = scene.draw(moment).picture()
        assert difference(drawn, decoded) < 1.5
        if earlier:
            assert difference(drawn, decoded) < difference(earlier, decoded)
        earlier = drawn


def test_colors_survive_the_conversion_to_planes() -> None:
    header, records = eventlog.read(log(0.1, players=2))
    scene = Scene(header)
    moment = next(moments(header, records, 1))
    picture = scene.draw(moment).picture()
    for player, color in (("p0", (230, 72, 79)), ("p1", (61, 139, 253))):
        x, y = scene._pixel(moment.positions[player])
        pixel: Any = picture.getpixel((round(x), round(y)))
        assert max(abs(a - b) for a, b in zip(pixel, color, strict=True)) < 12


def test_the_same_log_gives_the_same_bytes(tmp_path: Path) -> None:
    assert render(log(1), tmp_path / "a").read_bytes() == render(log(1), tmp_path / "b").read_bytes()


def test_every_hangul_syllable_has_a_glyph() -> None:
    white = (255, 255, 255)
    nothing = text.label(chr(0x10FFFF), 24, white).tobytes()
    seen = {text.label(chr(code), 24, white).tobytes() for code in range(0xAC00, 0xD7A4, 17)}
    assert nothing not in seen
    assert len(seen) > 650


def test_a_long_name_is_shortened_to_its_width() -> None:
    short = text.shorten("가나다라마바사" * 20, 20, 200)
    assert short.endswith("…") and text.width(short, 20) <= 200


@pytest.mark.parametrize("size", ["[1, 9]", "[900000, 100000]"])
def test_an_arena_of_any_shape_and_players_outside_of_it_are_drawn(tmp_path: Path, size: str) -> None:
    text = "\n".join(sample_replay.event_log(0.3)).replace("[100, 50]", size)
    assert len(pictures(render(io.BytesIO(text.encode()), tmp_path / "out.mp4"))) == 9


def test_the_thumbnail_of_a_log_shows_the_goal(tmp_path: Path) -> None:
    picture = Image.open(render(log(5), tmp_path / "out.png", JobType.THUMBNAIL))
    assert (picture.format, picture.size) == ("PNG", (1280, 720))
    caption = picture.convert("RGB").crop((440, 560, 840, 690))
    gold = Image.new("RGB", caption.size, (255, 205, 86))
    bands = [band.point([255] * 24 + [0] * 232) for band in ImageChops.difference(caption, gold).split()]
    golden = ImageChops.darker(ImageChops.darker(bands[0], bands[1]), bands[2])
    assert golden.getbbox()  # the accent of the goal's caption


def test_progress_reports_phases_in_order_and_frames_muxed(tmp_path: Path) -> None:
    sent: list[Report] = []
    render(log(6), tmp_path / "out.mp4", send=sent.append)
    assert sent[0].phase == Phase.PREPARING
    assert {report.total for report in sent if report.phase == Phase.RENDERING} == {180}
    assert [report.progress for report in sent] == sorted(report.progress for report in sent)


def test_a_cancel_between_frames_stops_the_encoder(tmp_path: Path) -> None:
    turns = iter(range(10_000))
    with pytest.raises(Cancelled):
        produce(JobType.MP4, log(20), tmp_path / "out.mp4", Meter(quiet, lambda: next(turns) > 30))
    assert next(turns) < 40


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("a.mp4", "libx264"),
        ("a.webm", "libvpx-vp9"),
        ("a.mkv", "libx264"),
        ("a.avi", "mpeg4"),
        ("a.mov", "mpeg4"),
    ],
)
def test_video_files_of_every_kind_are_converted(tmp_path: Path, name: str, codec: str) -> None:
    path = render(video_of_frames(tmp_path / name, codec=codec), tmp_path / "out.mp4")
    with av.open(str(path)) as container:
        stream: Any = container.streams.video[0]
        assert (stream.codec_context.name, stream.width, stream.height) == ("h264", 320, 240)
        assert (container.duration or 0) / av.time_base == pytest.approx(60 / 25, abs=0.1)
    assert brightness(pictures(path)[30]) > 20


def test_a_recording_without_a_length_is_measured(tmp_path: Path) -> None:
    source = video_of_frames(tmp_path / "a.webm", codec="libvpx", container="webm", live="1")
    assert len(pictures(render(source, tmp_path / "out.mp4"))) == pytest.approx(60, abs=2)
    source.seek(0)
    assert brightness(Image.open(render(source, tmp_path / "out.png", JobType.THUMBNAIL))) > 20


def test_the_thumbnail_of_a_video_is_not_black(tmp_path: Path) -> None:
    assert (
        brightness(
            Image.open(render(video_of_frames(tmp_path / "a.mp4"), tmp_path / "o.png", JobType.THUMBNAIL))
        )
        > 20
    )


def test_a_large_video_is_made_smaller_with_even_sides() -> None:
    assert fit_size(3840, 2160, (1920, 1080)) == (1920, 1080)
    assert fit_size(1081, 1921, (1920, 1080)) == (606, 1080)
    assert fit_size(2, 8000, (1920, 1080)) == (2, 1080)


def test_a_picture_above_the_limit_is_refused(tmp_path: Path) -> None:
    source = video_of_frames(tmp_path / "a.mp4", frames=1, size=(8208, 16))
    with pytest.raises(BadReplay, match="above the limit") as caught:
        render(source, tmp_path / "out.mp4")
    assert caught.value.too_large


def test_a_truncated_video_is_refused(tmp_path: Path) -> None:
    whole = video_of_frames(tmp_path / "a.mp4").read()
    for length in (40, 200, len(whole) // 2):
        with pytest.raises(BadReplay, match="video"):
            render(file_of(tmp_path, whole[:length]), tmp_path / "out.mp4")


def test_a_file_without_pictures_is_refused(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "a.mp4"), "w") as out:
        stream = out.add_stream("aac", rate=44100)
        frame = av.AudioFrame(format="fltp", layout="mono", samples=1024)
        frame.rate = 44100
        for plane in frame.planes:
            plane.update(bytes(plane.buffer_size))
        out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    with pytest.raises(BadReplay, match="no video"):
        render((tmp_path / "a.mp4").open("rb"), tmp_path / "out.mp4")


@pytest.mark.parametrize(
    "content",
    [
        b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n",
        b"ffconcat version 1.0\nfile '/etc/passwd'\n",
        b"<?xml version='1.0'?><MPD></MPD>",
        b"v=0\no=- 0 0 IN IP4 127.0.0.1\n",
        b"GIF89a",
        b"",
        bytes(64),
    ],
)
def test_an_unknown_format_never_reaches_a_demuxer(content: bytes) -> None:
    with pytest.raises(BadReplay):
        detect_kind(content)


def test_a_disguised_playlist_opens_no_other_file(tmp_path: Path) -> None:
    """A RIFF header, then a playlist: the demuxer is fixed, so nothing detects the playlist."""
    disguised = (
        b"RIFF" + struct.pack("<I", 200) + b"AVI \n#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n" + b" " * 200
    )
    with pytest.raises(BadReplay):
        render(file_of(tmp_path, disguised), tmp_path / "out.mp4")
