"""The folders of exports and replays, and what a film is made with."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from config.doctor.finding import Finding, bad, ok, warn
from config.doctor.patience import in_short

FULL, NEARLY_FULL = 200 * 2**20, 2 * 2**30
HANGUL = "두레"


def checks() -> Iterator[Finding]:
    for name, variable, root in (
        ("exports", "DURE_EXPORT_PATH", settings.DURE_EXPORT_PATH),
        ("replays", "DURE_REPLAY_PATH", settings.DURE_REPLAY_PATH),
    ):
        yield folder(name, variable, root)
    yield room(shutil.disk_usage(existing(settings.DURE_EXPORT_PATH)).free, settings.DURE_EXPORT_PATH)
    yield font()
    yield codec()


def folder(name: str, variable: str, root: Path) -> Finding:
    """Writing tells what mode bits do not: a read-only mount, a quota, a full disk."""
    advice = f"let the account of our processes write there, or set {variable} to a folder of its own"
    if not root.exists():
        above = existing(root)
        if os.access(above, os.W_OK | os.X_OK):
            return ok(name, f"{root} is made with the first file")
        return bad(name, f"{root} is missing, and {above} cannot be written", advice)
    try:
        with tempfile.NamedTemporaryFile(dir=root, prefix=".doctor-") as probe:
            probe.write(b"\0" * 4_096)
            probe.flush()
    except OSError as error:
        return bad(name, f"{root} cannot be written: {error.strerror}", advice)
    return ok(name, f"{root} can be written")


def existing(path: Path) -> Path:
    """The folder itself, or the nearest one above it that is there."""
    return next(folder for folder in (path, *path.parents) if folder.exists())


def room(free: int, root: Path) -> Finding:
    said = f"{free / 2**30:.1f} GiB free at {root}"
    if free < FULL:
        return bad("disk", said, "make room: exports fail, and so does the embedded PostgreSQL")
    if free < NEARLY_FULL:
        return warn("disk", said, "make room soon, or move DURE_EXPORT_PATH to a larger disk")
    return ok("disk", said)


def font() -> Finding:
    try:
        from exports.render import text

        if not text.width(HANGUL, 20):
            raise OSError("it draws nothing")
    except (OSError, ImportError) as error:
        return bad(
            "font", f"cannot be read: {in_short(error)}", "install the packages anew, and the checkout"
        )
    return ok("font", f"{text.FONT.name}, with Hangul")


def codec() -> Finding:
    advice = "install the locked PyAV wheel (`av`), which brings x264"
    try:
        import av
    except ImportError as error:
        return bad("video", f"PyAV cannot be loaded: {in_short(error)}", advice)
    try:
        av.codec.Codec("libx264", "w")
    except (av.error.FFmpegError, ValueError):
        return bad("video", f"PyAV {av.__version__} has no H.264 encoder", advice)
    return ok("video", f"PyAV {av.__version__} encodes H.264")
