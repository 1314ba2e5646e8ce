"""The processes under test: PostgreSQL, Redis, two workers, a control worker and beat, all real."""

import os
import shutil
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from config.dev import redis
from config.dev.home import Home, open_home
from config.dev.postgres import PostgreSQL
from config.dev.process import Process as ServerProcess
from config.dev.process import stop
from tests.unit.process_tools import is_alive
from tests.workers import Process, celery, worker

if TYPE_CHECKING:
    from tests.chaos.recovery import Recovery

POOL = 2
# The lines of a worker's log about its connection to the broker.
LOST, CONNECTED = (b"Connection to broker lost", b"Cannot connect to "), b" Connected to "


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
    def __init__(self, servers: Servers, folder: Path, recovery: "Recovery") -> None:
        self.servers = servers
        self.folder = folder
        self.recovery = recovery
        self.workers: dict[str, Process] = {}
        self.started_at: dict[str, float] = {}
        self.frozen: set[str] = set()
        self._log_starts: dict[str, int] = {}
        self._ready: dict[str, int] = {}  # the pid of which it is known
        self._connections: dict[str, tuple[int, bool]] = {}  # the log's part that was read, and its news
        for name in ("one", "two", "control"):
            self.start_worker(name)
        for process in self.workers.values():
            process.wait_for_line(" ready.")
        self.beat: Process
        self.start_beat()

    def start_worker(self, name: str) -> None:
        queues = "control" if name == "control" else "FE,BE,QA,default"
        log = self.folder / f"{name}.log"
        self._log_starts[name] = log.stat().st_size if log.exists() else 0
        self.started_at[name] = time.time()
        self.workers[name] = worker(
            self.folder,
            queues=queues,
            concurrency=1 if name == "control" else POOL,
            name=name,
            env={"DURE_LEASE_SECONDS": os.environ["CHAOS_LEASE"]},
        )

    def start_beat(self) -> None:
        log = self.folder / "beat.log"
        self._log_starts["beat"] = log.stat().st_size if log.exists() else 0
        self.beat = celery("beat", log=log)

    def serves(self, name: str) -> bool:
        """Whether this worker is alive, not frozen, has finished its start, and reaches the broker."""
        return (
            name not in self.frozen
            and self._has_logged(name, self.workers[name], " ready.")
            and self._is_connected(name)
        )

    def _is_connected(self, name: str) -> bool:
        """What the last line about the connection says."""
        place, connected = self._connections.get(name, (0, False))
        with (self.folder / f"{name}.log").open("rb") as log:
            log.seek(place)
            text = log.read()
        lost = max(text.rfind(line) for line in LOST)
        regained = text.rfind(CONNECTED)
        if lost != regained:  # otherwise there is no line about it
            connected = regained > lost
        # Up to the last whole line.
        self._connections[name] = place + text.rfind(b"\n") + 1, connected
        return connected

    def beat_is_ready(self) -> bool:
        return self._has_logged("beat", self.beat, "LocalTime ->")

    def _has_logged(self, name: str, process: Process, text: str) -> bool:
        if not is_alive(process.pid):
            return False
        if self._ready.get(name) != process.pid:
            with (self.folder / f"{name}.log").open("rb") as log:
                log.seek(self._log_starts[name])
                if text.encode() in log.read():
                    self._ready[name] = process.pid
        return self._ready.get(name) == process.pid

    def lose(self, pid: int) -> None:
        """Records that this worker, or the worker of this pool process, dies or freezes now."""
        for name, process in self.workers.items():
            if pid == process.pid or pid in process.children():
                self.recovery.losses.append((f"{name}@test", time.time()))

    def keep_up(self) -> int:
        """Restarts the processes that ended by themselves, as a supervisor does. Returns their number."""
        dead = [name for name, process in self.workers.items() if process.poll() is not None]
        for name in dead:
            self.start_worker(name)
        if self.beat.poll() is not None:
            self.start_beat()
            dead.append("beat")
        return len(dead)

    def stop(self) -> None:
        self.beat.stop()
        for process in self.workers.values():
            process.stop(5)
