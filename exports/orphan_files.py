"""Removes orphan files: partial files of dead workers, and complete ones that no row names.

A file can lose its row in several ways: a cancel while the file was placed, a deleted replay, a worker that
was fenced after it had placed the file. Only files that a row names are ever served.
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
from exports.states import LIVE

log = logging.getLogger(__name__)

# A younger file may belong to a row that is not committed yet.
MIN_AGE = timedelta(seconds=60)
FOLDERS_AT_ONCE = 500


def sweep_once(now: datetime, min_age: timedelta = MIN_AGE, changed_within: timedelta | None = None) -> int:
    """Answers how many files were removed.

    With `changed_within` it reads only folders that changed in that time: creating and removing a file
    changes its folder, so the last pass has seen the others.
    """
    old = now.timestamp() - min_age.total_seconds()
    since = 0.0 if changed_within is None else now.timestamp() - changed_within.total_seconds()
    exports, replays = Store(settings.DURE_EXPORT_PATH), Store(settings.DURE_REPLAY_PATH)
    removed = exports.sweep(now.timestamp(), min_age.total_seconds())
    removed += replays.sweep(now.timestamp(), min_age.total_seconds())
    for folders in _batches(
        itertools.chain(_folders(exports.root, since), _expired_folders(exports.root, since))
    ):
        removed += _remove(exports, folders, _kept_results(folders), old)
    for folders in _batches(_folders(replays.root, since)):
        removed += _remove(replays, folders, _kept_uploads(replays.root, folders), old)
    if removed:
        log.info("removed %s orphan files", removed)
    return removed


def _folders(root: Path, since: float) -> Iterator[Path]:
    """`<owner>/<job>` or `<owner>/<upload>`; other files of an operator are left alone."""
    for path in root.glob("[0-9]*/[0-9a-f]*"):
        info = _stat(path)
        if info and stat.S_ISDIR(info.st_mode) and info.st_mtime >= since:
            yield path


def _expired_folders(root: Path, since: float) -> Iterator[Path]:
    """The folders of exports that expired since then: expiry does not change a folder."""
    expired_since = datetime.fromtimestamp(since, UTC)
    for job in ExportJob.objects.filter(expired_at__gte=expired_since).only("owner_id").iterator():
        path = root.joinpath(*job.folder)
        info = _stat(path)
        if info and stat.S_ISDIR(info.st_mode) and info.st_mtime < since:
            yield path


def _stat(path: Path) -> os.stat_result | None:
    """The status of a file; None if another listener has removed it."""
    with suppress(FileNotFoundError):
        return path.lstat()
    return None


def _files(folder: Path) -> list[Path]:
    with suppress(FileNotFoundError):
        return list(folder.iterdir())
    return []


def _batches(folders: Iterator[Path]) -> Iterator[list[Path]]:
    while batch := list(itertools.islice(folders, FOLDERS_AT_ONCE)):
        yield batch


def _kept_results(folders: list[Path]) -> set[Parts]:
    """The recorded files, and every file of an export in progress."""
    by_id = {int(folder.name): folder for folder in folders if folder.name.isdigit()}
    kept: set[Parts] = set()
    for job in ExportJob.objects.filter(pk__in=list(by_id)):
        if job.has_file:
            kept.add(tuple(job.result_uri.split("/")))
        elif job.status in LIVE:
            kept |= {(*job.folder, path.name) for path in _files(by_id[job.pk])}
    return kept


def _kept_uploads(root: Path, folders: list[Path]) -> set[Parts]:
    paths = {"/".join(path.relative_to(root).parts) for folder in folders for path in _files(folder)}
    kept = Replay.objects.filter(path__in=list(paths)).values_list("path", flat=True)
    return {tuple(path.split("/")) for path in kept}


def _remove(store: Store, folders: list[Path], kept: set[Parts], old: float) -> int:
    removed = 0
    for path in (path for folder in folders for path in _files(folder)):
        parts = path.relative_to(store.root).parts
        info = _stat(path)
        if info and parts not in kept and not stat.S_ISDIR(info.st_mode) and info.st_mtime <= old:
            removed += store.remove(parts)
    return removed
