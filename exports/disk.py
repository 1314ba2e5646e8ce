"""The free space of the disks that hold replays and exports."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

FULL, NEARLY_FULL = 200 * 2**20, 2 * 2**30


@dataclass(frozen=True, slots=True)
class Disk:
    path: Path
    free: int

    @property
    def is_full(self) -> bool:
        return self.free < FULL


def fullest() -> Disk:
    """Of the two folders, which may be on different disks, the one with less space."""
    folders = (settings.DURE_EXPORT_PATH, settings.DURE_REPLAY_PATH)
    disks = [Disk(path, shutil.disk_usage(nearest_existing(path)).free) for path in folders]
    return min(disks, key=lambda disk: disk.free)


def nearest_existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.exists())
