"""Python, and the packages that are installed, against those that are locked."""

import re
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

from packaging.markers import Marker

from config.doctor.finding import Finding, bad, ok, warn

LOCK = Path(__file__).resolve().parents[2] / "requirements.txt"
OLDEST_PYTHON = (3, 11)
# name==version, perhaps followed by `; marker`, and by a backslash before the hashes.
PINNED = re.compile(
    r"^([A-Za-z0-9_.-]+)(?:\[[^]]*\])?==([^\s;\\]+)\s*(?:;\s*([^\\]+?))?\s*\\?$", re.MULTILINE
)
SHOWN = 5
INSTALL = "run `make up` once, or `pip install --require-hashes -r requirements.txt`"


def checks() -> Iterator[Finding]:
    yield python(sys.version_info[:3])
    if not LOCK.exists():
        yield ok("packages", "no requirements.txt beside the code to compare with: as in the image")
        return
    yield packages(locked(LOCK.read_text()), installed)


def python(version: tuple[int, ...]) -> Finding:
    number = ".".join(map(str, version))
    if version[:2] < OLDEST_PYTHON:
        return bad("python", number, f"run it with Python {'.'.join(map(str, OLDEST_PYTHON))} or newer")
    return ok("python", number)


def packages(wanted: dict[str, str], version_of: Callable[[str], str | None]) -> Finding:
    missing, other = [], []
    for name, version in wanted.items():
        there = version_of(name)
        if there is None:
            missing.append(f"{name} {version}")
        elif there != version:
            other.append(f"{name} {there} instead of {version}")
    if missing:
        return bad("packages", f"missing: {shortened(missing)}", INSTALL)
    if other:
        return warn("packages", f"not as locked: {shortened(other)}", INSTALL)
    return ok("packages", f"all {len(wanted)} as locked")


def locked(text: str) -> dict[str, str]:
    """Name and version of what the lock wants on this machine."""
    return {
        name: version
        for name, version, marker in PINNED.findall(text)
        if not marker or Marker(marker).evaluate()
    }


def installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def shortened(names: list[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")
