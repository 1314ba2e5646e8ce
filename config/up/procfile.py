"""Reads the Procfile, so that `make up` and production run the same commands."""

import re
from dataclasses import dataclass
from pathlib import Path

from config.embedded import CannotStart

# Run to its end before the others start, and never kept running: the migrations.
RELEASE = "release"
LINE = re.compile(r"^([A-Za-z0-9_-]+):\s*(\S.*)$")


@dataclass(frozen=True)
class Program:
    name: str
    command: str

    @property
    def arguments(self) -> list[str]:
        """The shell fills in the variables and then becomes the program, so signals reach that."""
        return ["/bin/sh", "-c", f"exec {self.command}"]


def read(path: Path) -> dict[str, Program]:
    try:
        text = path.read_text()
    except OSError as error:
        raise CannotStart(f"{path} cannot be read: {error.strerror}.") from None
    programs: dict[str, Program] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = LINE.match(line)
        if not found:
            raise CannotStart(f"{path}, line {number}: expected `name: command`, got {line!r}.")
        name, command = found.groups()
        if name in programs:
            raise CannotStart(f"{path}, line {number}: {name} is there twice.")
        programs[name] = Program(name, command)
    return programs
