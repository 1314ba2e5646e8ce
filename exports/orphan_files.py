"""Files that belong to nothing: half-made ones of dead workers, and whole ones that no job recorded.

A file can lose its job in several honest ways: a cancel that came as it was placed, a replay that was
deleted, a worker that was fenced after it had placed it. Only recorded files are ever served.
"""

import itertools
import logging
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings

from exports.files import Parts, Store
from exports.models import ExportJob, Replay
from exports.serialize import has_file
from exports.states import LIVE

log = logging.getLogger(__name__)

# Younger files may belong to a row that is being written now.
MIN_AGE = timedelta(seconds=60)
AT_ONCE = 500


def sweep_once(now: datetime, min_age: timedelta = MIN_AGE, looked_before: timedelta | None = None) -> int:
    """How many files were removed.

    With `looked_before`, only folders that changed since then are looked into: making and removing a
    file changes its folder, so the others are as the last pass left them.
    """
    old = now.timestamp() - min_age.total_seconds()
    since = 0.0 if looked_before is None else now.timestamp() - looked_before.total_seconds()
    exports, replays = Store(settings.DURE_EXPORT_PATH), Store(settings.DURE_REPLAY_PATH)
    removed = exports.sweep(now.timestamp(), min_age.total_seconds())
    removed += replays.sweep(now.timestamp(), min_age.total_seconds())
    for folders in _some(itertools.chain(_folders(exports.root, since), _expired(exports.root, since))):
        removed += _remove(exports, folders, _wanted_results(folders), old)
    for folders in _some(_folders(replays.root, since)):
        removed += _remove(replays, folders, _wanted_uploads(replays.root, folders), old)
    if removed:
        log.info("removed %s leftover files", removed)
    return removed


def _folders(root: Path, since: float) -> Iterator[Path]:
    """`<owner>/<job>` or `<owner>/<upload>`; whatever else an operator put there is left alone."""
    for path in root.glob("[0-9]*/[0-9a-f]*"):
        found = _state(path)
        if found and stat.S_ISDIR(found.st_mode) and found.st_mtime >= since:
            yield path


def _expired(root: Path, since: float) -> Iterator[Path]:
    """Those of exports that have expired since then: in the folder itself nothing has changed."""
    lately = datetime.fromtimestamp(since, UTC)
    for job in ExportJob.objects.filter(expired_at__gte=lately).only("owner_id").iterator():
        path = root.joinpath(*job.folder)
        found = _state(path)
        if found and stat.S_ISDIR(found.st_mode) and found.st_mtime < since:
            yield path


def _state(path: Path) -> os.stat_result | None:
    """None when it is gone: another listener sweeps too."""
    with suppress(FileNotFoundError):
        return path.lstat()
    return None


def _files(folder: Path) -> list[Path]:
    with suppress(FileNotFoundError):
        return list(folder.iterdir())
    return []


def _some(folders: Iterator[Path]) -> Iterator[list[Path]]:
    while some := list(itertools.islice(folders, AT_ONCE)):
        yield some


def _wanted_results(folders: list[Path]) -> set[Parts]:
    """The recorded files, and every file of an export that is still being made."""
    numbers = {int(folder.name): folder for folder in folders if folder.name.isdigit()}
    wanted: set[Parts] = set()
    for job in ExportJob.objects.filter(pk__in=list(numbers)):
        if has_file(job):
            wanted.add(tuple(job.result_uri.split("/")))
        elif job.status in LIVE:
            wanted |= {(*job.folder, path.name) for path in _files(numbers[job.pk])}
    return wanted


def _wanted_uploads(root: Path, folders: list[Path]) -> set[Parts]:
    found = {"/".join(path.relative_to(root).parts) for folder in folders for path in _files(folder)}
    kept = Replay.objects.filter(path__in=list(found)).values_list("path", flat=True)
    return {tuple(path.split("/")) for path in kept}


def _remove(store: Store, folders: list[Path], wanted: set[Parts], old: float) -> int:
    removed = 0
    for path in (path for folder in folders for path in _files(folder)):
        parts = path.relative_to(store.root).parts
        found = _state(path)
        if found and parts not in wanted and not stat.S_ISDIR(found.st_mode) and found.st_mtime <= old:
            removed += store.remove(parts)
    return removed
