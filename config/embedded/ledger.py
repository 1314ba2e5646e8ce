"""Writes down what was started in a home, so that the next start can end what a crash left behind."""

import os
import shutil
import signal
from contextlib import suppress
from pathlib import Path

from config.embedded import identity, interruption, private
from config.embedded.child import Child
from config.embedded.home import Home, read_json

PATIENCE = 15.0


class Ledger:
    def __init__(self, home: Home) -> None:
        self.path = home.path / "running.json"
        self.processes: list[dict[str, object]] = []
        self.folders: list[str] = []

    def add(self, child: Child) -> None:
        self.processes.append({"name": child.name, "pid": child.pid, "identity": identity.of(child.pid)})
        self._write()

    def add_folder(self, folder: Path) -> None:
        self.folders.append(str(folder))
        self._write()

    def close(self) -> None:
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)
        self.path.unlink(missing_ok=True)

    def end_leftovers(self) -> list[str]:
        """Ends what the last run left alive and forgets it; answers the names."""
        found = read_json(self.path)
        if not isinstance(found, dict):
            return []
        left = [
            (str(entry["name"]), int(entry["pid"]), str(entry["identity"]))
            for entry in found["processes"]
            if identity.is_alive(int(entry["pid"]), str(entry["identity"]))
        ]
        for _, pid, _ in left:
            _send(pid, signal.SIGTERM)
        for _, pid, known in left:
            _end(pid, known)
        for folder in found["folders"]:
            shutil.rmtree(folder, ignore_errors=True)
        self.path.unlink(missing_ok=True)
        return [name for name, _, _ in left]

    def _write(self) -> None:
        private.write_json(self.path, {"processes": self.processes, "folders": self.folders})


def _end(pid: int, known: str) -> None:
    def is_gone() -> bool:
        return not identity.is_alive(pid, known)

    # PostgreSQL waits for its clients after a TERM, and not after an INT.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        if is_gone():
            return
        _send(pid, number)
        if interruption.wait_until(is_gone, seconds=PATIENCE / 3):
            return


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if number == signal.SIGKILL:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
