"""Checks of the installed packages."""

import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

from django.core.checks import CheckMessage
from packaging.requirements import Requirement

from jobs.diagnostics import error, ok, register, warning

LOCK = Path(__file__).resolve().parents[2] / "requirements.txt"
OLDEST_PYTHON = (3, 11)
MAX_LISTED = 5
INSTALL = "run `make up` once, or `pip install --require-hashes -r requirements.txt`"


@register("packages")
def check_installation() -> Iterator[CheckMessage]:
    yield check_python(sys.version_info[:3])
    if LOCK.exists():
        yield check_packages(locked_versions(LOCK.read_text()), installed_version)
    else:
        yield ok("packages", "no requirements.txt to compare with: as in the image")


def check_python(version: tuple[int, ...]) -> CheckMessage:
    number = ".".join(map(str, version))
    if version[:2] < OLDEST_PYTHON:
        return error("python", number, f"use Python {'.'.join(map(str, OLDEST_PYTHON))} or newer")
    return ok("python", number)


def check_packages(locked: dict[str, str], version_of: Callable[[str], str | None]) -> CheckMessage:
    installed = {name: version_of(name) for name in locked}
    missing = [f"{name} {locked[name]}" for name, version in installed.items() if version is None]
    other = [
        f"{name} {version} instead of {locked[name]}"
        for name, version in installed.items()
        if version not in (None, locked[name])
    ]
    if missing:
        return error("packages", f"missing: {_shorten(missing)}", INSTALL)
    if other:
        return warning("packages", f"not as locked: {_shorten(other)}", INSTALL)
    return ok("packages", f"all {len(locked)} as locked")


def locked_versions(text: str) -> dict[str, str]:
    """The version of each package that the lock requires on this machine."""
    # Hashes and comments follow in lines that begin with a space or a sign.
    lines = [line.rstrip(" \\") for line in text.splitlines() if line[:1].isalnum()]
    pinned = [Requirement(line) for line in lines]
    needed = [each for each in pinned if each.marker is None or each.marker.evaluate()]
    return {each.name: str(each.specifier).removeprefix("==") for each in needed}


def installed_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _shorten(names: list[str]) -> str:
    more = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")
