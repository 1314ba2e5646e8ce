"""Tasks for tests of the engine: they fail, hang, die and write in many ways."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.db import connection

from dure import Context, Stopped, TaskFailure, task
from jobs.models import Counter
from tests.lines import write_line

# How many `try.programs` starts.
PROGRAMS = 4


@task("try.echo")
def echo(ctx: Context, value: Any = None) -> Any:
    """Returns its arguments."""
    return value


@task("try.data")
def data(ctx: Context, value: int = 0) -> dict[str, Any]:
    """Returns what a body can read of its graph."""
    due = ctx.scheduled_for
    return {
        "value": value,
        "results": dict(ctx.results),
        "input": ctx.input,
        "scheduled_for": due and due.isoformat(),
    }


@task("try.fan_out")
def fan_out(ctx: Context, path: str, width: int, deaths: int = 0) -> list[str]:
    """Submits jobs that write lines, and one that joins them; the first attempts die afterwards."""
    names = [str(number) for number in range(width)]
    line = {"task_id": "try.line"}
    parts = [{**line, "ref": name, "args": {"path": path, "text": name}} for name in names]
    join = {**line, "ref": "join", "args": {"path": path, "text": "join"}, "depends_on": names}
    ids = ctx.submit(*parts, join)
    if ctx.attempt <= deaths:
        os.kill(os.getpid(), signal.SIGKILL)
    return ids


@task("try.odd_result")
def odd_result(ctx: Context, kind: str) -> Any:
    """Returns a result that cannot be stored."""
    results = {
        "object": object(),
        "nan": float("nan"),
        "nul": "a\x00b",
        "large": "x" * 300_000,
        "bytes": b"x",
        "half": "\ud800",
    }
    return results[kind]


def wait_for_file(path: str) -> None:
    while not Path(path).exists():
        time.sleep(0.02)


@task("try.line")
def line(ctx: Context, path: str, text: str = "", seconds: float = 0.0, until: str = "") -> None:
    """Writes a line to a file, and sleeps, or waits until a file exists."""
    write_line(path, text or f"{ctx.execution_id} {ctx.attempt} {ctx.idempotency_key}")
    time.sleep(seconds)
    if until:
        wait_for_file(until)


@task("try.flaky_line")
def flaky_line(ctx: Context, path: str, failures: int) -> None:
    """Writes a line at each attempt, and fails so many times."""
    write_line(path, f"{ctx.execution_id} {ctx.attempt} {ctx.idempotency_key}")
    if ctx.attempt <= failures:
        raise ValueError("not yet")


@task("try.jitter", retry_jitter=True, retry_backoff=100)
def jitter(ctx: Context) -> None:
    """Fails, and is retried after a random delay."""
    raise TaskFailure("unlucky")


@task("try.picky", autoretry_for=(ValueError,))
def picky(ctx: Context, kind: str) -> None:
    """Raises an exception of this kind; only ValueError is retried."""
    raise {"ValueError": ValueError, "KeyError": KeyError}[kind]("as asked")


@task("try.exit")
def leave(ctx: Context, code: int) -> None:
    """Tries to end the worker."""
    sys.exit(code)


@task("try.until")
def until(ctx: Context, path: str, session: str = "") -> str:
    """Runs until a file exists, and reports progress."""
    if session:
        ctx.session(session)
    ctx.progress(0.25, "waiting")
    wait_for_file(path)
    return "seen"


@task("try.stubborn")
def stubborn(ctx: Context, path: str, seconds: float = 600.0, gives_in: bool = False) -> str:
    """Ignores a soft time limit: continues, or answers normally."""
    write_line(path, os.getpid())
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            time.sleep(0.05)
        except Stopped:
            if gives_in:
                return "too late"
    return "never interrupted"


@task("try.family")
def family(ctx: Context, path: str, outlive: bool = False) -> None:
    """Starts a child in a session of its own, and a grandchild. All must end with it."""
    command = f"sleep 300 & echo $! >> {path}; echo $$ >> {path}; exec sleep 301"
    child = subprocess.Popen(["/bin/sh", "-c", command], start_new_session=True)
    if outlive:
        while len(Path(path).read_text().split() if Path(path).exists() else ()) < 2:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    while True:
        try:
            child.wait()
        except Stopped:
            continue


def note_cancel(execution_id: str, args: dict[str, Any]) -> None:
    write_line(args["path"] + ".cancelled", execution_id)


@task("try.cancellable", on_cancel=note_cancel)
def cancellable(ctx: Context, path: str) -> None:
    """Waits to be cancelled."""
    write_line(path, "started")
    time.sleep(600)


@task("try.ignore_cancel", on_cancel=note_cancel)
def ignore_cancel(ctx: Context, path: str) -> None:
    """Ignores its cancellation and has to be killed."""
    write_line(path, os.getpid())
    while True:
        with suppress(Stopped):
            time.sleep(600)


@task("try.die")
def die(ctx: Context, path: str, lives: int = 0) -> int:
    """Kills its own process, as a crash in C would, in its first `lives` attempts (0: always)."""
    write_line(path, ctx.attempt)
    if ctx.attempt <= lives or not lives:
        os.kill(os.getpid(), signal.SIGKILL)
    return ctx.attempt


@task("try.die_once", on_lost="fail")
def die_once(ctx: Context, path: str) -> None:
    """Kills its own process, and must not start again."""
    write_line(path, ctx.attempt)
    os.kill(os.getpid(), signal.SIGKILL)


@task("try.count", atomic=True)
def count(
    ctx: Context, name: str, path: str = "", seconds: float = 0.0, until: str = "", fail: bool = False
) -> str:
    """Writes a row that commits only with the result, and works for some time, or until a file exists."""
    Counter.objects.create(name=name, value=ctx.attempt)
    if path:
        write_line(path, os.getpid())
    end = time.monotonic() + seconds
    while time.monotonic() < end or (until and not Path(until).exists()):
        ctx.progress(0.5, "in a transaction")
        time.sleep(0.05)
    if fail:
        raise TaskFailure("after the write")
    with connection.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        return str(cursor.fetchone()[0])


@task("try.count_stubbornly", atomic=True, on_cancel=note_cancel)
def count_stubbornly(ctx: Context, name: str, path: str) -> None:
    """Writes a row, and answers normally even when it is interrupted."""
    Counter.objects.create(name=name)
    write_line(path, os.getpid())
    with suppress(Stopped):
        time.sleep(600)


@task("try.programs")
def programs(ctx: Context, path: str, until: str = "") -> None:
    """Starts programs that try to outlive it, each of which writes its process id to a file."""
    write = f"sh -c 'echo $$ >> {path}; exec sleep 900'"
    subprocess.Popen(f"exec {write}", shell=True)
    subprocess.Popen(f"{write} & exit", shell=True, start_new_session=True).wait()
    subprocess.Popen(f"env -i setsid {write} & exit", shell=True, start_new_session=True, env={}).wait()
    if not os.fork():
        os.setsid()
        if not os.fork():
            write_line(path, os.getpid())
            time.sleep(900)
        os._exit(0)
    while len(Path(path).read_text().split() if Path(path).exists() else ()) < PROGRAMS:
        time.sleep(0.01)
    while until and not Path(until).exists():
        with suppress(Stopped):
            time.sleep(0.02)


@task("try.say")
def say(
    ctx: Context,
    printed: str = "",
    logged: str = "",
    program: str = "",
    seconds: float = 0.0,
    api_key: str = "",
) -> None:
    """Prints, logs, and starts a program that prints; then it waits."""
    if printed:
        print(printed)
        print(printed, file=sys.stderr, end="")
    if logged:
        ctx.logger.warning(logged)
        logging.getLogger("library").info("from a library")
    if program:
        subprocess.run(["/bin/sh", "-c", program], check=False)
    time.sleep(seconds)


@task("try.say_atomically", atomic=True)
def say_atomically(ctx: Context, text: str) -> None:
    """Prints, and fails within its transaction."""
    print(text)
    raise TaskFailure("undone")


@task("try.chatter")
def chatter(ctx: Context, lines: int, text: str) -> None:
    """Prints many lines."""
    for number in range(lines):
        print(number, text)


@task("try.mistreat_streams")
def mistreat_streams(ctx: Context, way: str, path: str = "") -> None:
    """Leaves its streams as no body should."""
    if way == "close":
        sys.stdout.close()
    elif way == "replace":
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115
    elif way == "logging":
        del logging.root.handlers[1:]
    elif way == "close_descriptor":
        os.close(1)
    elif way == "fork":
        if (child := os.fork()) == 0:
            print("from the fork")
            os._exit(0)
        os.waitpid(child, 0)
        print("from the parent")
    else:
        threading.Thread(target=print_until, args=[path], daemon=True).start()


def print_until(path: str) -> None:
    for _ in range(100):
        print("from an old thread")
        logging.getLogger("old").warning("from an old thread")
        time.sleep(0.02)
    if path:
        write_line(path, "done")


@task("try.until_logged")
def until_logged(ctx: Context, path: str) -> None:
    """Waits for the end of the thread of an earlier run."""
    wait_for_file(path)
