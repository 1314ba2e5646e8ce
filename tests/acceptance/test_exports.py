"""A user uploads a recording, follows its export, downloads the MP4, and it plays."""

import http.client
import io
import json
from typing import Any
from urllib.parse import urlsplit

import av
from PIL import Image, ImageChops

from exports import sample_replay
from tests.acceptance.system import System
from tests.unit.process_tools import eventually

SECONDS = 4.0
RED, BLUE, GOLD = (230, 72, 79), (61, 139, 253), (255, 205, 86)


def uploaded(stack: System, content: bytes, title: str = "수용 시험") -> dict[str, Any]:
    parts = urlsplit(stack.base_url)
    head = '--b\r\nContent-Disposition: form-data; name="title"\r\n\r\n' + title + "\r\n"
    head += '--b\r\nContent-Disposition: form-data; name="file"; filename="match.jsonl"\r\n\r\n'
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    headers = {**stack.client("alice").headers, "Content-Type": "multipart/form-data; boundary=b"}
    connection.request("POST", "/api/replays", head.encode() + content + b"\r\n--b--\r\n", headers)
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 201, body
    return dict(json.loads(body))


def exported(stack: System, replay: dict[str, Any], kind: str) -> int:
    answer = stack.client("alice").post(f"/api/replays/{replay['replayId']}/exports/{kind}")
    assert answer.status == 202, answer.body
    assert answer.headers["Location"].endswith(f"/api/jobs/{answer.json['jobId']}")
    return int(answer.json["jobId"])


def ended(stack: System, job: int) -> dict[str, Any]:
    alice = stack.client("alice")
    ends = ("SUCCEEDED", "FAILED", "CANCELLED")
    path = f"/api/jobs/{job}"
    # The exporter may be busy with the demo's export when this begins.
    assert eventually(lambda: alice.get(path).json["status"] in ends, 120), alice.get(path).body
    return dict(alice.get(path).json)


def log(seconds: float = SECONDS) -> bytes:
    return "\n".join(sample_replay.event_log(seconds)).encode()


def holds(picture: Image.Image, color: tuple[int, int, int]) -> bool:
    """Tells whether a pixel has about this color."""
    plain = picture.convert("RGB")
    apart = ImageChops.difference(plain, Image.new("RGB", plain.size, color)).split()
    near = [band.point([255] * 30 + [0] * 226) for band in apart]
    return ImageChops.darker(ImageChops.darker(near[0], near[1]), near[2]).getbbox() is not None


def test_a_recording_is_exported_as_a_playable_mp4(stack):
    job = exported(stack, uploaded(stack, log()), "mp4")
    done = ended(stack, job)
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


def test_the_demo_has_a_recording_and_an_export(stack):
    alice = stack.client("alice")
    assert any("demo" in replay["title"] for replay in alice.get("/api/replays").json["content"])
    assert alice.get("/api/jobs?jobType=MP4").json["totalElements"] >= 1
