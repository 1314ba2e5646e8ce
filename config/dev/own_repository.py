"""A repository of one's own Tasks, which `dure dev` runs with the programs of the checkout."""

from collections.abc import Mapping
from pathlib import Path

from config.dev import CannotStart, procfile
from config.dev.procfile import Program


def folder(environment: Mapping[str, str]) -> Path | None:
    name = environment.get("DURE_OWN_REPOSITORY", "")
    if not name:
        return None
    path = Path(name).expanduser().resolve()
    if not path.is_dir():
        raise CannotStart(f"DURE_OWN_REPOSITORY: {path} is not a folder.")
    return path


def programs(path: Path) -> list[Program]:
    """Those of its Procfile, named after the folder, so that they differ from Dure's own."""
    file = path / "Procfile"
    if not file.exists():
        return []
    own = procfile.read(file).values()
    return [Program(f"{path.name}-{each.name}", each.command, is_own=True) for each in own]
