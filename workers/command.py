"""`command.run`: a program that the settings allow, run once in a session of its own."""

import codecs
import os
import re
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from dure import Context, InvalidArgs, PermissionRefused, SessionError, task
from jobs.subprocesses.program import NotStarted, Program
from jobs.texts import printable
from workers import truncate

TAIL_BYTES = 64 * 1024
MAX_ARGS = 1_000
MAX_ARGS_BYTES = 64 * 1024
PROGRESS_EVERY_SECONDS = 1.0
MAX_LINE = 200
# The most output in the message of a failure.
ERROR_LINES, ERROR_CHARACTERS = 5, 1_000

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


@task("command.run")
def run_command(ctx: Context, command: str, args: Sequence[str] = ()) -> dict[str, Any]:
    """Runs a program that DURE_COMMANDS allows, with these arguments and without a shell."""
    argv = [find(command), *check_args(args)]
    started = time.monotonic()
    tail = Tail()
    try:
        with Program(argv, environment(ctx)) as program:
            ctx.session(program.session_name)
            follow(ctx, program, tail)
            code = program.exit_code
    except NotStarted as error:
        raise SessionError(f"{command} could not be started: {error}") from None
    if code != 0:
        raise SessionError(failure_message(command, code or 0, tail))
    result: dict[str, Any] = {"exit_code": code, "seconds": round(time.monotonic() - started, 3)}
    room = truncate.bytes_left(result | {"output_tail": ""})
    return result | {"output_tail": truncate.tail(tail.text(), room)}


def find(command: str) -> str:
    """The program's path, on DURE_COMMAND_PATH and nowhere else."""
    if command not in settings.DURE_COMMANDS or not NAME.fullmatch(command):
        raise PermissionRefused(f"DURE_COMMANDS does not allow the command {command[:80]!r}.")
    for folder in settings.DURE_COMMAND_PATH.split(":"):
        path = Path(folder, command)
        if path.is_absolute() and path.is_file() and os.access(path, os.X_OK):
            return str(path)
    # Another worker may have it, so a retry makes sense.
    raise SessionError(f"{command} is allowed, but not installed on this worker's DURE_COMMAND_PATH.")


def check_args(args: Sequence[str]) -> Sequence[str]:
    if len(args) > MAX_ARGS:
        raise InvalidArgs(f"A command takes at most {MAX_ARGS} arguments.")
    if any("\0" in arg for arg in args):
        raise InvalidArgs("An argument contains a NUL character.")
    try:
        size = sum(len(arg.encode()) for arg in args)
    except UnicodeEncodeError:
        raise InvalidArgs("An argument contains half of a surrogate pair.") from None
    if size > MAX_ARGS_BYTES:
        raise InvalidArgs(f"The arguments of a command have at most {MAX_ARGS_BYTES} bytes together.")
    return args


def environment(ctx: Context) -> dict[str, str]:
    """Built from nothing: the worker's own environment holds the secrets of the whole system."""
    return {
        "PATH": settings.DURE_COMMAND_PATH,
        "LANG": "C.UTF-8",
        "DURE_EXECUTION_ID": ctx.execution_id,
        "DURE_ATTEMPT": str(ctx.attempt),
        "DURE_IDEMPOTENCY_KEY": ctx.idempotency_key,
    }


def follow(ctx: Context, program: Program, tail: "Tail") -> None:
    """Log the output, keep its end, and report its last line as progress from time to time."""
    reported, reported_at = "", 0.0
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    for piece in program.output(tick=PROGRESS_EVERY_SECONDS):
        tail.add(piece)
        sys.stdout.write(decoder.decode(piece))  # into the log of the run
        now = time.monotonic()
        if now - reported_at >= PROGRESS_EVERY_SECONDS and (line := tail.last_line()) != reported:
            reported, reported_at = line, now
            ctx.progress(message=line)


def failure_message(command: str, code: int, tail: "Tail") -> str:
    if code < 0:
        ended = f"{command} was ended by {signal.Signals(-code).name}"
    else:
        ended = f"{command} ended with exit code {code}"
    lines = [clean for line in tail.text().splitlines() if (clean := printable(line).strip())]
    output = "\n".join(lines[-ERROR_LINES:])[-ERROR_CHARACTERS:]
    return f"{ended}:\n{output}" if output else f"{ended}."


class Tail:
    """The last 64 KiB of the output."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def add(self, piece: bytes) -> None:
        self._kept += piece
        del self._kept[:-TAIL_BYTES]

    def text(self) -> str:
        # PostgreSQL cannot store a NUL in a JSON text.
        return self._kept.decode("utf-8", "replace").replace("\0", "\ufffd")

    def last_line(self) -> str:
        lines = self._kept[-4 * MAX_LINE :].decode("utf-8", "replace").splitlines()
        return next((clean for line in reversed(lines) if (clean := printable(line).strip())), "")[:MAX_LINE]
