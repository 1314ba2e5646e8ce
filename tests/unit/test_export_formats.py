"""The formats of exports, and their options: size, rate, and a part of the replay."""

from io import BytesIO
from pathlib import Path
from typing import Any

import av
import pytest
from PIL import Image

from exports.eventlog import Record
from exports.failures import BadReplay
from exports.options import check
from exports.render import video
from exports.render.options import Part, RenderOptions
from exports.render.timeline import moments, outline
from exports.states import JobType
from jobs.errors import Invalid
from tests.unit.test_export_render import brightness, difference, log, pictures, render, video_of_frames
from tests.unit.test_export_timeline import HEADER

CODECS = {JobType.MP4: "h264", JobType.WEBM: "vp9", JobType.GIF: "gif"}
SOURCES = ["log", "video", "live"]


@pytest.fixture(scope="module")
def videos(tmp_path_factory) -> dict[str, Path]:
    """Eight seconds each; `live` is as a browser records it, without an index."""
    folder = tmp_path_factory.mktemp("videos")
    video, webm, live = folder / "a.mp4", folder / "a.webm", folder / "live.webm"
    render(video_of_frames(video, frames=200), webm, JobType.WEBM)
    with av.open(str(webm)) as source, av.open(str(live), "w", format="webm", options={"live": "1"}) as out:
        stream = out.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.pts is not None:
                packet.stream = stream
                out.mux(packet)
    return {"video": video, "live": live}


@pytest.fixture
def source_of(videos: dict[str, Path]):
    return lambda kind: log(8) if kind == "log" else videos[kind].open("rb")


def shape(path: Path) -> tuple[Any, ...]:
    """Codec, size, rate, length and number of frames, as read from the file."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = list(container.decode(stream))
        last = frames[-1].time - (frames[0].time or 0)
        return stream.codec_context.name, (frames[0].width, frames[0].height), len(frames), last


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("job_type", CODECS)
def test_a_part_has_a_given_size_rate_and_length(
    tmp_path: Path, source_of, kind: str, job_type: JobType
) -> None:
    options = RenderOptions("360p", 20, 3_000, 4_500)
    path = render(source_of(kind), tmp_path / "out", job_type, options=options)
    codec, size, frames, last = shape(path)
    assert (codec, frames) == (CODECS[job_type], 30)
    assert size == ((640, 360) if kind == "log" else (320, 240))  # a video is never made larger
    assert last == pytest.approx(1.45, abs=0.02)


@pytest.mark.parametrize("kind", SOURCES)
def test_a_part_shows_what_the_whole_shows_at_that_time(tmp_path: Path, source_of, kind: str) -> None:
    whole = pictures(render(source_of(kind), tmp_path / "whole", options=RenderOptions("360p", fps=25)))
    options = RenderOptions("360p", fps=25, from_ms=4_000, to_ms=5_000)
    part = pictures(render(source_of(kind), tmp_path / "part", options=options))
    assert len(part) == 25
    # The trails of players begin with the part; the last frames have them whole.
    assert difference(part[24], whole[124]) < difference(part[24], whole[120])
    assert difference(part[24], whole[124]) < 3


def test_every_format_has_the_colors_of_the_replay(tmp_path: Path, source_of) -> None:
    """The stripe of the video is (200, 60, 30)."""
    for job_type in CODECS:
        options = RenderOptions(from_ms=4_000, to_ms=5_000)
        path = render(source_of("video"), tmp_path / "out", job_type, options=options)
        pixel: Any = pictures(path)[0].convert("RGB").getpixel((100, 160))
        assert max(abs(a - b) for a, b in zip(pixel, (200, 60, 30), strict=True)) < 16, job_type


@pytest.mark.parametrize(("resolution", "size"), [("360p", (640, 360)), ("1080p", (1920, 1080))])
def test_an_event_log_is_drawn_at_each_size(tmp_path: Path, resolution: str, size) -> None:
    """Scaled to one size the pictures are the same, so nothing is left out or moved."""
    plain = Image.open(render(log(2), tmp_path / "a", JobType.THUMBNAIL)).convert("RGB")
    other = Image.open(
        render(log(2), tmp_path / "b", JobType.THUMBNAIL, options=RenderOptions(resolution))
    ).convert("RGB")
    assert other.size == size
    assert difference(plain.resize((320, 180)), other.resize((320, 180))) < 3


@pytest.mark.parametrize("kind", SOURCES)
def test_a_thumbnail_of_a_part_comes_from_the_part(tmp_path: Path, source_of, kind: str) -> None:
    """The first quarter of the video is black; the log has one goal, after 2.5 s."""
    early = RenderOptions(from_ms=0, to_ms=1_500)
    late = RenderOptions(from_ms=4_000, to_ms=7_000)
    of_early = Image.open(
        render(source_of(kind), tmp_path / "early", JobType.THUMBNAIL, options=early)
    ).convert("RGB")
    of_late = Image.open(render(source_of(kind), tmp_path / "late", JobType.THUMBNAIL, options=late)).convert(
        "RGB"
    )
    if kind == "log":
        assert difference(of_early.crop((440, 0, 840, 60)), of_late.crop((440, 0, 840, 60))) > 1  # the score
    else:
        assert brightness(of_early) < 5 < brightness(of_late)


def test_a_gif_loops_and_has_one_palette(tmp_path: Path) -> None:
    with Image.open(render(log(2), tmp_path / "out.gif", JobType.GIF)) as gif:
        assert (gif.format, gif.size, gif.info["loop"], gif.info["duration"]) == ("GIF", (640, 360), 0, 100)


@pytest.mark.parametrize("kind", SOURCES)
def test_a_part_behind_the_end_is_refused(tmp_path: Path, source_of, kind: str) -> None:
    """Dure may not know the length of a video when the export is requested."""
    with pytest.raises(BadReplay, match="ends before"):
        render(source_of(kind), tmp_path / "out", options=RenderOptions(from_ms=9_000))


def test_a_part_of_a_log_begins_with_the_score_so_far() -> None:
    records = [Record(0, {"a": (0, 0)}), Record(10, event="goal", score={"a": 1}), Record(100, {"a": (9, 9)})]
    part = Part(5_000, 6_000)
    plan = outline(HEADER, iter(records), part, 10)
    assert (plan.duration_ms, plan.frames) == (10_000, 10)
    moment = next(moments(HEADER, iter(records), plan.frames, part, 10))
    assert (moment.seconds, moment.score) == (5.0, {"a": 1})


@pytest.mark.parametrize(
    ("job_type", "options", "fields"),
    [
        (JobType.MP4, RenderOptions("4k"), {"resolution"}),
        (JobType.MP4, RenderOptions(fps=0), {"fps"}),
        (JobType.WEBM, RenderOptions(fps=61), {"fps"}),
        (JobType.GIF, RenderOptions(fps=26, to_ms=10_000), {"fps"}),
        (JobType.THUMBNAIL, RenderOptions(fps=10), {"fps"}),
        (JobType.MP4, RenderOptions(from_ms=-1), {"fromMs"}),
        (JobType.MP4, RenderOptions(from_ms=90_000), {"fromMs"}),
        (JobType.MP4, RenderOptions(from_ms=5_000, to_ms=5_000), {"toMs"}),
        (JobType.MP4, RenderOptions(to_ms=0), {"toMs"}),
        (JobType.MP4, RenderOptions(to_ms=90_001), {"toMs"}),
        (JobType.MP4, RenderOptions("4k", 0, 95_000, 94_000), {"resolution", "fps", "fromMs", "toMs"}),
        (JobType.GIF, RenderOptions(), {"toMs"}),
        (JobType.GIF, RenderOptions(from_ms=10_000, to_ms=70_001), {"toMs"}),
    ],
)
def test_options_that_do_not_fit_are_refused_by_field(job_type, options, fields) -> None:
    with pytest.raises(Invalid) as caught:
        check(job_type, options, 90_000)
    assert set(caught.value.errors) == fields


def test_a_gif_of_a_video_of_unknown_length_needs_an_end() -> None:
    with pytest.raises(Invalid, match="at most 60 s"):
        check(JobType.GIF, RenderOptions(), None)
    check(JobType.GIF, RenderOptions(to_ms=60_000), None)
    check(JobType.MP4, RenderOptions(from_ms=10**6), None)


def test_an_error_of_the_decoder_without_a_text_is_named_by_its_type(monkeypatch) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise ValueError

    monkeypatch.setattr(av, "open", fail)
    with pytest.raises(BadReplay, match="cannot be read: ValueError"), video.open_recording(BytesIO(), "mp4"):
        pass
