"""The output of `make up`: its steps, the lines of the programs, and a summary when the system is ready."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

from config.dev import CREDENTIALS
from config.dev.home import Home
from config.dev.process import Process

GREEN, RED, BOLD, RESET = "\033[32m", "\033[31m", "\033[1m", "\033[0m"
COLOURS = ("\033[36m", "\033[33m", "\033[35m", "\033[34m", "\033[32m", "\033[91m", "\033[96m", "\033[95m")
# `config/dev/install.py` prints the first two steps.
TOTAL_STEPS, FIRST_STEP = 7, 3


def is_coloured() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def paint(text: str, colour: str) -> str:
    return f"{colour}{text}{RESET}" if is_coloured() else text


def error(text: str) -> None:
    print(paint(text, RED + BOLD) if sys.stderr.isatty() else text, file=sys.stderr, flush=True)


def report(process: Process) -> None:
    code = process.returncode or 0
    how = f"exit code {code}" if code >= 0 else f"signal {-code}"
    error(f"\n{process.name} ended by itself ({how}). Its last lines:")
    for line in process.last_lines():
        print(f"    {line}", file=sys.stderr)
    error(f"The whole log: {process.log}.")


class Screen:
    """Prints new lines of the programs' logs. A terminal that accepts no output never blocks a program."""

    def __init__(self, names: list[str]) -> None:
        self.width = max((len(name) for name in names), default=0)
        self.colours = cycle(COLOURS)
        self.logs: dict[str, tuple[str, Any]] = {}

    def follow(self, process: Process) -> None:
        """Follow the log of a process from its start, instead of that of an earlier process of this name."""
        log = process.log.open("rb")
        log.seek(process.log_start)
        label, earlier = self.logs.get(process.name, ("", None))
        if earlier:
            earlier.close()
        label = label or paint(f"{process.name:<{self.width}} | ", next(self.colours))
        self.logs[process.name] = (label, log)

    def show(self) -> None:
        for label, log in self.logs.values():
            while line := log.readline():
                if not line.endswith(b"\n"):
                    log.seek(-len(line), os.SEEK_CUR)  # the rest is still to be written
                    break
                try:
                    print(label + line.decode(errors="replace").rstrip("\r\n"), flush=True)
                except BrokenPipeError:  # the terminal was closed; the programs still write their logs
                    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115


class Steps:
    """Prints a line for each step, with a tick and its seconds at the end."""

    def __init__(self) -> None:
        self.number = FIRST_STEP - 1

    @contextmanager
    def step(self, title: str, *, shows_output: bool = False) -> Iterator[list[str]]:
        """The caller appends details to the list. Output of programs may be printed during the step."""
        self.number += 1
        head = f"[{self.number}/{TOTAL_STEPS}] {title}"
        if sys.stdout.isatty():
            print(f"{head} …", end="\n" if shows_output else "", flush=True)
        details: list[str] = []
        started_at = time.monotonic()
        mark = paint("✗", RED)
        try:
            yield details
            mark = paint("✓", GREEN)
        finally:
            start = "\r\033[K" if sys.stdout.isatty() else ""
            line = ", ".join([head, *details])
            print(f"{start}{line} {mark} {time.monotonic() - started_at:.1f} s", flush=True)


def summary(credentials: dict[str, Any], home: Home) -> str:
    """A box with the addresses, users and passwords."""
    base, flower = credentials["base_url"], credentials["flower"]
    rows = [
        ("Monitor", f"{base}/"),
        ("Admin", f"{base}/admin/"),
        ("API docs", f"{base}/api/docs"),
        ("Flower", f"{flower['url']}/   {flower['user']} / {flower['password']}"),
        ("", ""),
    ]
    for user in credentials["users"]:
        rows.append((user["username"], f"password  {user['password']}   ({user['role']})"))
        rows.append(("", f"token     {user['token']}"))
    rows += [("", ""), ("Logs", str(home.logs)), ("Secrets", str(home.path / CREDENTIALS))]
    names = max(len(name) for name, _ in rows)
    lines = [f"{name:<{names}}  {value}" for name, value in rows]
    lines = ["Dure is running", "", *lines, "", "Ctrl-C stops everything"]
    width = max(len(line) for line in lines)
    framed = [
        f"│ {line.ljust(width) if n else paint(line.ljust(width), BOLD)} │" for n, line in enumerate(lines)
    ]
    return "\n".join([f"┌{'─' * (width + 2)}┐", *framed, f"└{'─' * (width + 2)}┘"])
