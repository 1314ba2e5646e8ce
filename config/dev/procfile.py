"""Reads the Procfile; `make up` and production run the same commands."""

import re
from dataclasses import dataclass
from pathlib import Path

from config.dev import CannotStart

# The migrations: they run to their end before the other programs start.
RELEASE = "release"
NODE = re.compile(r"^celery\b.*\sworker\b.*\s-n\s+(\S+)")


@dataclass(frozen=True)
class Program:
    name: str
    command: str
    # Of one's own repository.
    is_own: bool = False

    @property
    def node(self) -> str | None:
        """The name that Celery's worker is told; None for another program."""
        match = NODE.match(self.command)
        return match[1] if match else None

    @property
    def arguments(self) -> list[str]:
        """The shell expands variables and then becomes the program, which so receives the signals."""
        return ["/bin/sh", "-c", f"exec {self.command}"]


def read(path: Path) -> dict[str, Program]:
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise CannotStart(f"{path} cannot be read: {error.strerror}.") from None
    programs: dict[str, Program] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = re.match(r"([A-Za-z0-9_-]+):\s*(\S.*)$", line)
        if not match:
            raise CannotStart(f"{path}, line {number}: expected `name: command`, got {line!r}.")
        name, command = match.groups()
        if name in programs:
            raise CannotStart(f"{path}, line {number}: {name} is there twice.")
        programs[name] = Program(name, command)
    return programs
