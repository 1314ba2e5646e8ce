"""Stores uploaded replays, and deletes them."""

import logging
import os
import unicodedata
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import BoundedSemaphore
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from exports import error_texts, eventlog, quota
from exports.failures import BadReplay
from exports.files import NO_SPACE, Parts, Placed, Store
from exports.models import ExportJob, Replay
from exports.render import sandbox
from exports.render.detect import EVENT_LOG, SNIFF_BYTES, detect_kind
from exports.render.sandbox import RenderFailed
from exports.render.timeline import outline
from exports.states import LIVE
from jobs import activity
from jobs.errors import Conflict, Invalid, Refused, TooLarge
from jobs.states import Act


class NoSpace(Exception):
    """No disk space is left for uploads."""


log = logging.getLogger(__name__)

# The videos that one web process measures at once: each child may take the memory of the sandbox.
_MEASUREMENTS = BoundedSemaphore(2)
MAX_TITLE = 200
SUFFIXES = {EVENT_LOG: "jsonl", "mp4": "mp4", "matroska": "mkv", "avi": "avi"}


def store_upload(owner: User, file: "UploadedFile[Any]", title: str, now: datetime) -> Replay:
    # Django's own wrapper has no readline with a limit.
    return store(owner, cast(BinaryIO, file.file), file.name or "", title, now)


def store(owner: User, source: BinaryIO, file_name: str, title: str, now: datetime) -> Replay:
    """Checks an upload, copies it below the replay root, and inserts its row.

    An event log is read to its end, so that a mistake is reported at once with its line. A video is measured
    in a child process: demuxers do not run in the web process.
    """
    own_title, duration_ms = "", None
    with _refused_upload():
        kind = detect_kind(source.read(SNIFF_BYTES))
        source.seek(0)
        if kind == EVENT_LOG:
            header, records = eventlog.read(source)
            own_title, duration_ms = header.title, outline(header, records).duration_ms
    source.seek(0)
    quota.check(owner.pk, _size(source))
    name = clean_name(file_name) or "replay"
    parts = (str(owner.pk), uuid.uuid4().hex, f"replay.{SUFFIXES[kind]}")
    # The file first: a file without a row is swept, a row without a file would be broken.
    placed = _place(parts, source)
    if kind != EVENT_LOG:
        duration_ms = _measure(kind, parts)
    row = Replay(
        owner=owner,
        title=clean_name(title) or own_title or name.rpartition(".")[0] or name,
        file_name=name,
        kind=kind,
        path="/".join(parts),
        size_bytes=placed.size,
        sha256=placed.sha256,
        duration_ms=duration_ms,
        created_at=now,
    )
    _insert(row, parts)
    return row


def _insert(row: Replay, parts: Parts) -> None:
    """The row of a file that was placed; the file is removed if the owner has no room for it any more."""
    try:
        with transaction.atomic():
            quota.lock(row.owner_id)
            quota.check(row.owner_id, row.size_bytes)
            row.save(force_insert=True)
            _record(Act.REPLAY_UPLOADED, row)
    except Refused:
        Store(settings.DURE_REPLAY_PATH).remove(parts)
        raise


def _size(source: BinaryIO) -> int:
    size = source.seek(0, os.SEEK_END)
    source.seek(0)
    return size


@contextmanager
def _refused_upload() -> Iterator[None]:
    try:
        yield
    except BadReplay as bad:
        refusal = TooLarge if bad.too_large else Invalid
        text = error_texts.of_bad_replay(bad)
        raise refusal(
            text.code, code="bad_replay", errors={"file": [text]}, **dict[str, Any](text.params)
        ) from None


def _measure(kind: str, parts: Parts) -> int | None:
    """The length of a video that was placed; its file is removed if it cannot be read."""
    files = Store(settings.DURE_REPLAY_PATH)
    try:
        with _refused_upload(), _MEASUREMENTS, files.open(parts) as video:
            return sandbox.measure(kind, video)
    except (RenderFailed, OSError):
        log.exception("could not measure the video %s", "/".join(parts))
        return None
    except BaseException:
        files.remove(parts)
        raise


def delete(replay: Replay) -> None:
    """Deletes the replay, its exports and all their files, unless one of them is in progress."""
    with transaction.atomic():
        exports = list(ExportJob.objects.select_for_update().filter(replay=replay).order_by("pk"))
        if any(job.status in LIVE for job in exports):
            raise Conflict("export_live")
        results = [tuple(job.result_uri.split("/")) for job in exports if job.result_uri]
        _, deleted = Replay.objects.filter(pk=replay.pk).delete()
        if not deleted.get(Replay._meta.label):
            return  # another deletion came first
        _record(Act.REPLAY_DELETED, replay)
        transaction.on_commit(lambda: _remove_files(tuple(replay.path.split("/")), results))


def _record(act: Act, replay: Replay) -> None:
    activity.record(act, owner=replay.owner_id, replay=replay.pk, title=replay.title)


def _place(parts: Parts, source: BinaryIO) -> Placed:
    try:
        return Store(settings.DURE_REPLAY_PATH).place(parts, source)
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        raise NoSpace("The server has no space left for uploads; try again later.") from None


def clean_name(text: str) -> str:
    """A name that is safe to show: one line in NFC without controls, at most 200 characters."""
    plain = unicodedata.normalize("NFC", text.replace("\\", "/").rpartition("/")[2])
    return "".join(sign for sign in plain if sign.isprintable()).strip()[:MAX_TITLE]


def _remove_files(path: tuple[str, ...], results: list[tuple[str, ...]]) -> None:
    """A file that cannot be removed here is swept later."""
    Store(settings.DURE_REPLAY_PATH).remove(path)
    for parts in results:
        Store(settings.DURE_EXPORT_PATH).remove(parts)
