"""Folders, fonts and codecs of exports, and unsent messages: streams, notifications, webhooks."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from django.conf import settings
from django.core.checks import CheckMessage
from django.db.models import Q
from redis.exceptions import ResponseError

from exports import disk, sql
from exports.messages import DEADLETTER, PROGRESS
from exports.models import DeadLetter
from exports.streams import BACKEND
from jobs.diagnostics import error, ok, register, warning
from jobs.models import Webhook
from jobs.redis import CHECK, connect
from jobs.sql import call
from jobs.texts import first_line

# A listener reads several times a second; from Redis 7.2 on each read counts.
SILENT_MS = 30_000
LATE = 60.0
START_LISTENER = "start one: `python manage.py listen`"
HANGUL = "두레"
LATE_NOTIFICATIONS = """
    SELECT count(*), coalesce(extract(epoch FROM now() - min(next_at)), 0)::float
    FROM notifications WHERE next_at < now()
"""


@register("outgoing")
def check_outgoing() -> Iterator[CheckMessage]:
    yield check_listener(_listener_idle_times())
    yield check_outbox(*call.rows(sql.OUTBOX)[0])
    yield check_dead_letters(DeadLetter.objects.filter(state=DeadLetter.State.OPEN).count())
    yield check_dead_letter_stream(_dead_letter_stream_length(), settings.DURE_DEAD_LETTER_STREAM_LENGTH)
    yield check_notifications(*call.rows(LATE_NOTIFICATIONS)[0])
    yield check_webhooks(Webhook.objects.filter(Q(enabled=False) & ~Q(disabled_reason="")).count())


@register("exports")
def check_exports() -> Iterator[CheckMessage]:
    yield check_folder("exports", "DURE_EXPORT_PATH", settings.DURE_EXPORT_PATH)
    yield check_folder("replays", "DURE_REPLAY_PATH", settings.DURE_REPLAY_PATH)
    fullest = disk.fullest()
    yield check_free_space(fullest.free, fullest.path)
    yield check_font()
    yield check_codec()


def _listener_idle_times() -> list[int] | None:
    """The milliseconds since each listener's last read; None if there never was a listener."""
    with connect(CHECK) as client:
        try:
            return [int(consumer["idle"]) for consumer in client.xinfo_consumers(PROGRESS, BACKEND)]
        except ResponseError:
            return None


def check_listener(idle_times: Sequence[int] | None) -> CheckMessage:
    alive = [milliseconds for milliseconds in idle_times or () if milliseconds <= SILENT_MS]
    if not alive:
        text = "there never was one" if idle_times is None else "none is listening"
        return error("listener", f"{text}: exports neither start nor end", START_LISTENER)
    return ok("listener", f"{len(alive)} listening")


def check_outbox(count: int, seconds: float) -> CheckMessage:
    if seconds > LATE:
        text = f"{count:,} waiting, the oldest for {seconds:,.0f} s"
        return error("outbox", text, "check that a listener runs, and its log")
    return ok("outbox", f"{count:,} waiting" if count else "empty")


def check_dead_letters(count: int) -> CheckMessage:
    if count:
        hint = "resend or discard them: /deadletters on the monitor"
        return warning("dead letters", f"{count:,} need a decision", hint)
    return ok("dead letters", "none")


def _dead_letter_stream_length() -> int:
    with connect(CHECK) as client:
        return int(client.xlen(DEADLETTER))


def check_dead_letter_stream(length: int, limit: int) -> CheckMessage:
    # Redis trims whole blocks of messages, so the stream may be somewhat longer than its limit.
    if length > 2 * limit:
        text = f"{length:,} messages in {DEADLETTER}, above {limit:,}"
        return warning("dead letter stream", text, START_LISTENER)
    return ok("dead letter stream", f"{length:,} of {limit:,} messages")


def check_notifications(count: int, seconds: float) -> CheckMessage:
    if seconds > LATE:
        text = f"{count:,} late, the oldest by {seconds:,.0f} s"
        return warning("notices", text, "check that a worker consumes `notices`, and its log")
    return ok("notices", "none is late")


def check_webhooks(disabled: int) -> CheckMessage:
    if disabled:
        hint = "fix the receiver, then enable the webhook again, on the office's webhooks or in the admin"
        return warning("webhooks", f"{disabled} were disabled after too many errors", hint)
    return ok("webhooks", "none was disabled")


def check_folder(name: str, variable: str, root: Path) -> CheckMessage:
    """Mode bits do not reveal a read-only mount, a quota or a full disk; writing does."""
    hint = f"give the processes' account write access, or set {variable} to another folder"
    if not root.exists():
        parent = disk.nearest_existing(root)
        if os.access(parent, os.W_OK | os.X_OK):
            return ok(name, f"{root} will be created with the first file")
        return error(name, f"{root} is missing, and {parent} cannot be written", hint)
    try:
        with tempfile.NamedTemporaryFile(dir=root, prefix=".doctor-") as probe:
            probe.write(b"\0" * 4_096)
            probe.flush()
    except OSError as problem:
        return error(name, f"{root} cannot be written: {problem.strerror}", hint)
    return ok(name, f"{root} can be written")


def check_free_space(free: int, root: Path) -> CheckMessage:
    text = f"{free / 2**30:.1f} GiB free at {root}"
    if free < disk.FULL:
        return error("disk", text, "free space: exports fail, and so does the embedded PostgreSQL")
    if free < disk.NEARLY_FULL:
        return warning("disk", text, "free space soon, or move the folder to a larger disk")
    return ok("disk", text)


def check_font() -> CheckMessage:
    try:
        from exports.render import text

        if not text.width(HANGUL, 20):
            raise OSError("it draws nothing")
    except (OSError, ImportError) as problem:
        hint = "reinstall the packages, and the checkout"
        return error("font", f"cannot be read: {first_line(problem)}", hint)
    return ok("font", f"{text.FONT.name}, with Hangul")


def check_codec() -> CheckMessage:
    hint = "install the locked PyAV wheel (`av`), which includes x264"
    try:
        import av
    except ImportError as problem:
        return error("video", f"PyAV cannot be loaded: {first_line(problem)}", hint)
    try:
        av.codec.Codec("libx264", "w")
    except (av.error.FFmpegError, ValueError):
        return error("video", f"PyAV {av.__version__} has no H.264 encoder", hint)
    return ok("video", f"PyAV {av.__version__} encodes H.264")
