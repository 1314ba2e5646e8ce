"""Files that belong to nothing: half-made ones of dead workers, and whole ones that no job recorded.

A file can lose its job in several honest ways: a cancel that came as it was placed, a replay that was
deleted, a worker that was fenced after it had placed it. Only recorded files are ever served.
"""

import logging
from datetime import datetime
from pathlib import Path

from django.conf import settings

from exports.files import Store
from exports.models import ExportJob, Replay
from exports.states import TERMINAL

log = logging.getLogger(__name__)

# Younger files may belong to a row that is being written now.
MIN_AGE_SECONDS = 60.0
FOLDERS_AT_ONCE = 2_000


def sweep_once(now: datetime, min_age: float = MIN_AGE_SECONDS) -> int:
    """How many were removed."""
    store = Store(settings.DURE_EXPORT_PATH)
    removed = store.sweep(now.timestamp(), min_age)
    removed += sum(_clear(store, folder, now, min_age) for folder in _job_folders(store.root))
    removed += _forget_uploads(now, min_age)
    if removed:
        log.info("removed %s leftover files", removed)
    return removed


def _job_folders(root: Path) -> list[Path]:
    """`<owner>/<job>` below the root; whatever else an operator put there is left alone."""
    return sorted(path for path in root.glob("[0-9]*/[0-9]*") if path.is_dir() and not path.is_symlink())


def _clear(store: Store, folder: Path, now: datetime, min_age: float) -> int:
    if not folder.name.isdigit():
        return 0
    job = ExportJob.objects.filter(pk=int(folder.name)).first()
    if job is not None and job.status not in TERMINAL:
        return 0
    removed = 0
    for path in folder.iterdir():
        parts = path.relative_to(store.root).parts
        kept = job is not None and job.result_uri == "/".join(parts)
        if not kept and not path.is_dir() and now.timestamp() - path.lstat().st_mtime >= min_age:
            removed += store.remove(parts)
    return removed


def _forget_uploads(now: datetime, min_age: float) -> int:
    """Uploads whose row was never committed, or is gone."""
    store = Store(settings.DURE_REPLAY_PATH)
    removed = store.sweep(now.timestamp(), min_age)
    for path in store.root.glob("[0-9]*/*/*"):
        parts = path.relative_to(store.root).parts
        young = now.timestamp() - path.lstat().st_mtime < min_age
        if not young and not Replay.objects.filter(path="/".join(parts)).exists():
            removed += store.remove(parts)
    return removed
