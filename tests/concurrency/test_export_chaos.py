"""Exports end once with one file although workers and listeners are killed."""

import os
import random
import shutil
import signal
import sys
import time
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest
from django.utils import timezone
from redis import Redis
from redis.exceptions import RedisError

from config.dev import redis as dev_redis
from config.dev.ports import free_port
from exports import lifecycle, orphan_files, outbox, streams
from exports.models import ExportEvent, ExportJob, StreamOutbox
from exports.states import JobType, Status
from jobs.models import Execution
from tests import workers
from tests.concurrency.export_processes import (
    after,
    check_result,
    ended,
    environment,
    exporter,
    files,
    listener,
    readers,
    running,
    swept,
)
from tests.integration import export_tools as tools
from tests.workers import Process, command_of, eventually

pytestmark = pytest.mark.django_db(transaction=True)
FAULTS = 8


@pytest.fixture(autouse=True)
def redis(settings, tmp_path):
    tools.roots(settings, tmp_path)
    settings.DURE_LEASE_SECONDS = 2.0
    settings.DURE_REPUBLISH_SECONDS = 1.0
    redis = tools.empty_redis()
    redis.flushdb()
    yield redis
    redis.flushdb()
    redis.close()


def test_the_decoding_process_ends_with_its_worker(tmp_path) -> None:
    owner = tools.user()
    lifecycle.request(tools.video_of(owner, tmp_path, 2_000), JobType.MP4, timezone.now())
    with running(tmp_path, "export1", "listen1") as started:
        (reader,) = cast(set[int], swept(lambda: readers(started["export1"])))
        for pid in started["export1"].children():
            os.kill(pid, signal.SIGKILL)
        started["export1"].kill()
        eventually(lambda: b"exports.render" not in command_of(reader))


def test_a_killed_worker_starts_again_and_makes_one_file(tmp_path) -> None:
    job = tools.export_of(tools.user(), seconds=30)
    with running(tmp_path, "export1", "export2", "listen1") as started:
        swept(lambda: after(job).progress > 5)
        owner = Execution.objects.get().worker
        started["export1" if owner.startswith("export1") else "export2"].kill()
        swept(lambda: ended(job), 90)
    check_result(job)
    assert Execution.objects.get().crash_count == 1
    assert orphan_files.sweep_once(timezone.now(), min_age=timedelta()) >= 1  # the dead one's half-made file
    assert len(files()) == 2 - 1


class OwnRedis:
    """A separate Redis that may be killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "redis"
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        self.folder.mkdir(exist_ok=True)
        flags = {
            "--port": self.port,
            "--bind": "127.0.0.1",
            "--dir": self.folder,
            "--appendonly": "yes",
            "--save": "",
        }
        command = [str(dev_redis.binary()), *(str(part) for flag in flags.items() for part in flag)]
        self.process = Process(command, workers.environment(), self.folder.parent / "redis.log")
        redis = streams.connect(self.url)
        eventually(lambda: answers(redis), what="Redis to answer")

    def kill(self, forgetting: bool) -> None:
        self.process.kill()
        if forgetting:
            shutil.rmtree(self.folder)
        self.start()


def own_redis(stack: ExitStack, folder: Path) -> tuple[OwnRedis, dict[str, str]]:
    """The environment of processes that use it; one of them does the work of beat."""
    redis = OwnRedis(folder)
    stack.callback(lambda: redis.process.kill())
    env = workers.environment({**environment(), "REDIS_URL": redis.url})
    sweeper = Process([sys.executable, "-m", "tests.concurrency.sweep_process"], env, folder / "sweeper.log")
    stack.callback(sweeper.kill)
    return redis, env


def relayed(url: str) -> None:
    """Sends the outbox to Redis, where nothing reads it."""
    with streams.connect(url) as redis:
        while StreamOutbox.objects.exists():
            outbox.send_once(redis)


def wait(seconds: float) -> None:
    """Faults come at random moments, so there is no condition to wait for."""
    until = time.monotonic() + seconds
    eventually(lambda: time.monotonic() > until, seconds + 10)


def answers(redis: Redis) -> bool:
    try:
        return bool(redis.ping())
    except (RedisError, OSError):
        return False


@pytest.mark.timeout(300)
def test_every_export_ends_once_with_one_file_whatever_is_killed(tmp_path) -> None:
    """Workers, listeners and Redis, at random moments; Redis sometimes comes back without its data."""
    chance, owner = random.Random(11), tools.user()
    kinds = (JobType.MP4, JobType.MP4, JobType.THUMBNAIL)
    jobs: list[ExportJob] = []

    def keep_busy() -> None:
        while sum(not ended(job) for job in jobs) < 4:
            jobs.append(tools.export_of(owner, kinds[len(jobs) % 3], seconds=5 + len(jobs) % 7))

    with ExitStack() as stack:
        redis, env = own_redis(stack, tmp_path)
        alive: dict[str, Process] = {}

        def start(name: str) -> None:
            make = listener if name.startswith("listen") else exporter
            alive[name] = make(tmp_path, name, env)

        def stop_all() -> None:
            for process in alive.values():
                process.kill()

        stack.callback(stop_all)
        for name in ("export1", "export2", "listen1", "listen2"):
            start(name)
        keep_busy()
        eventually(lambda: any(after(job).progress for job in jobs))
        for turn in range(1, FAULTS + 1):
            keep_busy()
            wait(chance.uniform(0.3, 3))
            name = chance.choice(list(alive))
            if turn % 8 == 0:
                # Without a listener a request and a result reach Redis only: both are lost.
                for name in ("listen1", "listen2"):
                    alive[name].kill()
                keep_busy()
                jobs.append(tools.export_of(owner, JobType.THUMBNAIL))
                relayed(redis.url)
                redis.kill(forgetting=True)
                for name in ("listen1", "listen2"):
                    start(name)
            elif turn % 4 == 0:
                redis.kill(forgetting=False)
            elif chance.random() < 0.3:
                alive[name].signal(signal.SIGSTOP)
                wait(3)  # beyond the lease
                alive[name].signal(signal.SIGCONT)
            else:
                alive[name].kill()
                start(name)
        eventually(lambda: ended(*jobs), 180, pause=0.2, what="every export to end")
    orphan_files.sweep_once(timezone.now(), min_age=timedelta())
    for job in jobs:
        ends = ExportEvent.objects.filter(job_id=job.pk).exclude(type="job.progress").count()
        assert ends == 1, f"{job} has {ends} ends"
        if after(job).status == Status.SUCCEEDED:
            check_result(job)
        else:
            assert (after(job).status, after(job).error_code) == (Status.FAILED, "WORKER_LOST")
    succeeded = [job for job in jobs if after(job).status == Status.SUCCEEDED]
    exported = [path for path in files() if path.suffix in (".mp4", ".png")]
    assert len(exported) == len(succeeded) >= len(jobs) // 2
