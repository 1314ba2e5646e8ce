"""Helpers of the tests of exports: users, replays, and a foreign worker."""

import hashlib
import io
import resource
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import av
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from PIL import Image
from redis import Redis

from exports import lifecycle, messages, replays, sample_replay, streams
from exports.listener import Listener
from exports.messages import CONTROL, DEADLETTER, PROGRESS, REQUESTS, RESULTS
from exports.models import ExportJob, Replay, StreamOutbox
from exports.states import JobType

ALL = (REQUESTS, PROGRESS, RESULTS, DEADLETTER, CONTROL)


def empty_redis() -> Redis:
    redis = streams.connect(settings.REDIS_URL)
    redis.delete(*ALL)
    return redis


def roots(settings, folder: Path) -> None:
    settings.DURE_EXPORT_PATH = folder / "exports"
    settings.DURE_REPLAY_PATH = folder / "replays"


def user(name: str = "minji", **options) -> User:
    return User.objects.create_user(name, password="a-long-passphrase-1", **options)


def replay_of(owner: User, seconds: float = 1.0) -> Replay:
    data = "\n".join(sample_replay.event_log(seconds)).encode()
    return replays.store(owner, io.BytesIO(data), "match.jsonl", "", timezone.now())


def video_of(owner: User, folder: Path, frames: int) -> Replay:
    """A video replay of 640×360 with much detail in each picture."""
    path, noise = folder / "film.mp4", Image.effect_noise((640, 360), 90).convert("RGB")
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=30, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = 640, 360, "yuv420p"
        scene = []
        for turn in range(20):
            scene += stream.encode(av.VideoFrame.from_image(noise.rotate(turn)))
        scene += stream.encode(None)
        # The scene is encoded once and repeated: it begins with a key frame.
        for number in range(frames):
            encoded = scene[number % len(scene)]
            packet = av.Packet(bytes(encoded))
            packet.stream, packet.time_base = stream, encoded.time_base
            packet.pts = packet.dts = number
            packet.is_keyframe = encoded.is_keyframe
            out.mux(packet)
    with path.open("rb") as video:
        path.unlink()  # it is large
        return replays.store(owner, video, "film.mp4", "", timezone.now())


def export_of(owner: User, job_type: JobType = JobType.MP4, seconds: float = 1.0) -> ExportJob:
    return lifecycle.request(replay_of(owner, seconds), job_type, timezone.now())


class ForeignWorker:
    """A worker in another language: it uses the streams only."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis

    def progress(self, job: ExportJob, percent: int, phase: str = "RENDERING") -> None:
        fields: dict[Any, Any] = {**messages.Progress(job.pk, percent, phase).fields()}
        self.redis.xadd(PROGRESS, fields)

    def result(self, job: ExportJob, status: str, **fields: str) -> None:
        plain: dict[Any, Any] = {"resultUri": "", "checksum": "", "errorCode": "", "errorMessage": ""}
        self.redis.xadd(RESULTS, plain | {"jobId": str(job.pk), "status": status} | fields)

    def deliver(self, job: ExportJob, content: bytes = b"film") -> Path:
        """Writes the file to the requested path and sends the result."""
        path = settings.DURE_EXPORT_PATH.joinpath(*job.output)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self.result(job, "SUCCEEDED", resultUri=str(path), checksum=hashlib.sha256(content).hexdigest())
        return path


def listen(redis: Redis, name: str = "here", worker: bool = False) -> Listener:
    listener = Listener(redis, name, worker)
    listener.start()
    return listener


def drain(listener: Listener) -> None:
    """Polls until nothing is left to send, to read or to check."""
    while listener.poll(block_ms=None) or listener.checks.job_ids or StreamOutbox.objects.exists():
        pass


@contextmanager
def no_file_larger_than(size: int):
    """Makes writes fail as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
