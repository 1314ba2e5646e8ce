"""Wheels of packages that are installed here, so that a test can install them elsewhere without a network."""

import os
import re
import zipfile
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement


def make(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Write wheels of these packages and their requirements; returns the variables that name them to pip."""
    folder.mkdir()
    for package in _with_requirements(names):
        _write(folder, package)
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        # Python compiles what it imports, pip would compile every file. A 0 here keeps pip from it.
        "PIP_NO_COMPILE": "0",
    }


def _with_requirements(names: Iterable[str]) -> list[Distribution]:
    pending, packages = list(names), {}
    while pending:
        package = distribution(pending.pop())
        if package.name in packages:
            continue
        packages[package.name] = package
        requirements = map(Requirement, package.requires or ())
        pending += [each.name for each in requirements if each.marker is None or each.marker.evaluate()]
    return list(packages.values())


def _write(folder: Path, package: Distribution) -> None:
    tags = re.findall(r"^Tag: (\S+)$", package.read_text("WHEEL") or "", re.MULTILINE)
    python, abi, _ = tags[0].split("-")
    platforms = ".".join(dict.fromkeys(tag.split("-")[2] for tag in tags))
    name = re.sub(r"[-_.]+", "_", package.name)
    with zipfile.ZipFile(folder / f"{name}-{package.version}-{python}-{abi}-{platforms}.whl", "w") as wheel:
        for file in package.files or ():
            path = Path(str(package.locate_file(file)))
            # The commands of an environment, which pip writes again, are outside of its folder.
            if ".." not in file.parts and path.suffix != ".pyc" and path.is_file():
                wheel.write(path, os.fspath(file))
