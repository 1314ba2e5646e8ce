"""A user uploads a recording, follows its export, downloads the MP4, and it plays."""

import io
from typing import Any

import av
from PIL import Image, ImageChops

from tests.acceptance.system import System
from tests.fuzz.accounts import uploaded
from tests.unit.process_tools import eventually

SECONDS = 4.0
RED, BLUE, GOLD = (230, 72, 79), (61, 139, 253), (255, 205, 86)


def exported(stack: System, seconds: float) -> int:
    """An export as a video of a recording of so many seconds."""
    alice = stack.client("alice")
    replay = uploaded(alice, "수용 시험", seconds=seconds)
    return int(alice.create(f"/api/replays/{replay}/exports/mp4")["jobId"])


def ended(stack: System, job: int) -> dict[str, Any]:
    alice = stack.client("alice")
    ends = ("SUCCEEDED", "FAILED", "CANCELLED")
    path = f"/api/jobs/{job}"
    # The exporter may be busy with the demo's export when this begins.
    assert eventually(lambda: alice.get(path).json["status"] in ends, 120), alice.get(path).body
    return dict(alice.get(path).json)


def holds(picture: Image.Image, color: tuple[int, int, int]) -> bool:
    """Tells whether a pixel has about this color."""
    plain = picture.convert("RGB")
    apart = ImageChops.difference(plain, Image.new("RGB", plain.size, color)).split()
    near = [band.point([255] * 30 + [0] * 226) for band in apart]
    return ImageChops.darker(ImageChops.darker(near[0], near[1]), near[2]).getbbox() is not None


def test_a_recording_is_exported_as_a_playable_mp4(stack):
    done = ended(stack, exported(stack, SECONDS))
    assert (done["status"], done["progress"], done["errorCode"]) == ("SUCCEEDED", 100, None), done
    answer = stack.client("alice").get(done["resultUri"])
    assert (answer.status, answer.headers["Content-Type"]) == (200, "video/mp4")
    assert 0 < answer.body.index(b"moov") < answer.body.index(b"mdat")
    with av.open(io.BytesIO(answer.body), "r") as video:
        stream: Any = video.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (stream.width, stream.height, stream.average_rate) == (1280, 720, 30)
        assert abs(float(stream.duration * stream.time_base) - SECONDS) < 0.1
        pictures = [frame.to_image() for frame in video.decode(stream)]
    assert len(pictures) == SECONDS * 30
    # Players of both teams at the beginning, the caption of the goal after it.
    assert holds(pictures[0], RED) and holds(pictures[0], BLUE)
    assert not holds(pictures[0].crop((440, 600, 840, 690)), GOLD)
    assert holds(pictures[95].crop((440, 560, 840, 690)), GOLD)
