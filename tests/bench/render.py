"""The speed of the renderer beside the bare encoder, and its memory.

    python -m tests.bench.render [--seconds 20]

Target: at least 0.8 of the encoder's speed on one core, under 300 MiB whatever the length. Memory is the
peak of the process that renders: for an event log one that does nothing else, where a worker's own comes on
top; for a video the process that reads it, whole.
"""

import argparse
import io
import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import av

from exports import eventlog, sample_replay
from exports.render.encoder import Encoder
from exports.render.faststart import index_first
from exports.render.produce import produce
from exports.render.progress import Meter
from exports.render.scene import SIZE, Scene
from exports.render.timeline import FRAMES_PER_SECOND, moments, outline
from exports.states import JobType
from tests.bench.videos import VIDEOS


def log(seconds: float) -> bytes:
    return ("\n".join(sample_replay.event_log(seconds)) + "\n").encode()


def draw_frames(data: bytes) -> list[av.VideoFrame]:
    """Every frame, drawn beforehand, each in its own memory."""
    header, records = eventlog.read(io.BytesIO(data))
    plan = outline(header, records)
    header, records = eventlog.read(io.BytesIO(data))
    scene, frames = Scene(header), []
    for moment in moments(header, records, plan.frames):
        scene.follow(moment)
        source = scene.draw(moment).frame
        frame = av.VideoFrame(*SIZE, "yuv420p")
        for theirs, ours in zip(frame.planes, source.planes, strict=True):
            theirs.update(bytes(ours))
        frames.append(frame)
    return frames


def encoder_seconds(frames: list[av.VideoFrame], target: Path) -> float:
    began = time.process_time()
    with Encoder(target, "MP4", SIZE, FRAMES_PER_SECOND, lambda count: None) as encoder:
        for frame in frames:
            encoder.feed(frame)
    return time.process_time() - began


def render_seconds(data: bytes, target: Path) -> float:
    target.unlink(missing_ok=True)
    began = time.process_time()
    produce(JobType.MP4, io.BytesIO(data), target, Meter(lambda report: None))
    with target.open("rb") as made, target.with_suffix(".placed").open("wb") as placed:
        shutil.copyfileobj(index_first(made), placed)
    return time.process_time() - began


def peak_mib(*what: str) -> float:
    """The peak memory of a separate process that only renders."""
    command = [sys.executable, "-m", "tests.bench.render", *what]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def peak_of_log(seconds: float, folder: Path) -> float:
    source = folder / "log"
    with source.open("w") as file:
        file.writelines(line + "\n" for line in sample_replay.event_log(seconds))
    with source.open("rb") as file:
        produce(JobType.MP4, file, folder / "out.mp4", Meter(lambda report: None))
    # Not getrusage: its maximum outlives exec, so it would be that of the parent at the fork.
    status = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) / 1024


def peak_of_video(path: Path, folder: Path) -> float:
    with path.open("rb") as file:
        produce(JobType.MP4, file, folder / "out.mp4", Meter(lambda report: None))
    # This process is smaller than its child, so the maximum is the child's.
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def print_videos(folder: Path) -> None:
    for video in VIDEOS:
        path = folder / "video"
        with multiprocessing.get_context("spawn").Pool(1) as pool:  # encoders keep their memory
            pool.apply(video.write, (path,))
        print(f"peak memory, {video.name:<26} {peak_mib('--video', str(path)):4.0f} MiB  (target < 300)")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--log", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--video", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.mp4"
        if options.log:
            print(peak_of_log(options.log, Path(folder)))
            return
        if options.video:
            print(peak_of_video(options.video, Path(folder)))
            return
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        data = log(options.seconds)
        frames = draw_frames(data)
        # Alternately, in CPU time, and the best of each: other programs disturb both alike.
        pairs = [(encoder_seconds(frames, target), render_seconds(data, target)) for _ in range(5)]
        encoder, render = (min(column) for column in zip(*pairs, strict=True))
        print(f"frames                 {len(frames)}")
        print(f"bare encoder           {encoder:.2f} s, {len(frames) / encoder:.0f} frames/s")
        print(f"log to MP4             {render:.2f} s, {len(frames) / render:.0f} frames/s")
        print(f"share of the encoder   {encoder / render:.2f}  (target 0.80)")
        for seconds in (options.seconds, options.seconds * 15):
            peak = peak_mib("--log", str(seconds))
            print(f"peak memory, an event log of {seconds:4.0f} s    {peak:4.0f} MiB  (target < 300)")
        print_videos(Path(folder))


if __name__ == "__main__":
    main()
