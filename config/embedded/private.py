"""Writes files that only their owner reads, whole or not at all."""

import json
import os
from pathlib import Path


def write(path: Path, text: str) -> None:
    """Replaces the file in one step; nobody ever sees half of it, or may read it for a moment."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def write_json(path: Path, value: object) -> None:
    write(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")
