"""Watches source files for `make dev`, which starts the programs again when one is saved."""

import os
import threading
from collections.abc import Iterable
from pathlib import Path
from queue import SimpleQueue

from watchfiles import Change, DefaultFilter, watch

SUFFIXES = (".py", ".html", ".sql", ".mo")
# Saves that come so soon after one another are one change.
DEBOUNCE_MS = 200


class SourceFilter(DefaultFilter):
    """Leaves out hidden folders, caches and environments."""

    ignore_dirs = (*DefaultFilter.ignore_dirs, "site-packages")

    def __call__(self, change: Change, path: str) -> bool:
        return path.endswith(SUFFIXES) and super().__call__(change, path)


class SourceWatcher:
    def __init__(self, folders: Iterable[Path]) -> None:
        self._changes: SimpleQueue[set[str]] = SimpleQueue()
        self._stopped = threading.Event()
        self._folders = [folder for folder in folders if folder.is_dir()]
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        for changes in watch(
            *self._folders, watch_filter=SourceFilter(), debounce=DEBOUNCE_MS, stop_event=self._stopped
        ):
            self._changes.put({path for _, path in changes})

    def changed_files(self) -> set[str]:
        """The files that were saved since the last call."""
        files: set[str] = set()
        while not self._changes.empty():
            files |= self._changes.get()
        return files

    def stop(self) -> None:
        self._stopped.set()


def source_folders(checkout: Path, python_path: str) -> list[Path]:
    """The apps of the checkout, and the folders of one's own Tasks."""
    apps = [checkout / name for name in ("config", "jobs", "scheduler", "exports", "workers", "sdk")]
    return apps + [Path(folder) for folder in python_path.split(os.pathsep) if folder]
