"""The processes under test: PostgreSQL, Redis, two workers, a control worker and beat, all real."""

import os
import shutil
import signal
from pathlib import Path

from config.dev import redis
from config.dev.home import Home, open_home
from config.dev.postgres import PostgreSQL
from config.dev.process import Process as ServerProcess
from config.dev.process import stop
from tests.workers import Process, celery, worker

POOL = 2


class Servers:
    def __init__(self, folder: Path) -> None:
        folder.chmod(0o711)
        self.home: Home = open_home(folder / "home")
        self.start_postgres()
        self.start_redis()

    def start_postgres(self) -> None:
        self.postgres: ServerProcess
        self.postgres, self.database_url = PostgreSQL(self.home, durable=False).start()

    def start_redis(self) -> None:
        self.redis: ServerProcess
        self.redis, self.redis_url = redis.start(self.home)

    def crash_postgres(self) -> None:
        """Shuts down at once: no checkpoint, every connection cut, recovery at the next start."""
        self.postgres.signal(signal.SIGQUIT)
        stop([self.postgres])

    def kill_redis(self) -> None:
        self.redis.signal(signal.SIGKILL)
        stop([self.redis])

    def forget_redis(self) -> None:
        for path in (self.home.path / "valkey").iterdir():
            if path.name.startswith("append"):
                shutil.rmtree(path)
            elif path.suffix == ".rdb":
                path.unlink()

    def stop(self) -> None:
        stop([self.redis, self.postgres])
        self.home.close()


class Cluster:
    def __init__(self, servers: Servers, folder: Path) -> None:
        self.servers = servers
        self.folder = folder
        self.workers: dict[str, Process] = {}
        for name in ("one", "two", "control"):
            self.start_worker(name)
        for process in self.workers.values():
            process.wait_for_line(" ready.")
        self.beat: Process
        self.start_beat()

    def start_worker(self, name: str) -> None:
        queues = "control" if name == "control" else "FE,BE,QA,default"
        self.workers[name] = worker(
            self.folder, queues=queues, concurrency=1 if name == "control" else POOL, name=name
        )

    def start_beat(self) -> None:
        self.beat = celery("beat", log=self.folder / "beat.log")

    def keep_up(self) -> int:
        """Restarts the processes that ended by themselves, as a supervisor does. Returns their number."""
        dead = [name for name, process in self.workers.items() if process.popen.poll() is not None]
        for name in dead:
            self.start_worker(name)
        if self.beat.popen.poll() is not None:
            self.start_beat()
            dead.append("beat")
        return len(dead)

    def stop(self) -> None:
        self.beat.stop()
        for process in self.workers.values():
            process.stop(5)


def use(servers: Servers) -> None:
    os.environ["DATABASE_URL"] = servers.database_url
    os.environ["REDIS_URL"] = servers.redis_url
