"""Makes `.venv` and installs the locked requirements into it; does nothing when that is done already.

Runs under any Python 3.11 with nothing but its standard library: `PYTHONPATH=config python -m up.install`.
"""

import argparse
import fcntl
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .steps import Steps

VENV = Path(".venv")
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "installed.json"
# What both of these name, the wheels of the servers serve; with both set none is needed.
SERVER_VARIABLES = ("DATABASE_URL", "REDIS_URL")
EMBEDDED = "requirements-embedded.txt"


class Failed(Exception):
    """What went wrong, in a sentence."""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="install", description=__doc__)
    parser.add_argument("--steps", type=int, default=2, help="how many steps there are in all")
    parser.add_argument("requirements", nargs="+")
    options = parser.parse_args(arguments)
    try:
        with _alone():
            install(_needed(options.requirements), Steps(options.steps))
    except Failed as failure:
        print(f"Cannot install: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        print(f"Cannot install: {error.filename or VENV}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def install(requirements: Sequence[str], steps: Steps) -> None:
    with steps.step(f"Python {sys.version_info.major}.{sys.version_info.minor} environment in .venv"):
        if not _is_usable():
            _make()
    with steps.step("Packages") as told:
        missing = {name: digest for name in requirements if (digest := _digest(name)) != _stamp().get(name)}
        if missing:
            _pip(sorted(missing))
            _note(missing)
        told.append(f"{sum(_count(name) for name in requirements)} locked")


def _needed(requirements: Sequence[str]) -> list[str]:
    external = all(os.environ.get(name) for name in SERVER_VARIABLES)
    return [name for name in requirements if not (external and name == EMBEDDED)]


@contextmanager
def _alone() -> Iterator[None]:
    """`make up` and `make test` may both come here at once in a fresh clone."""
    folder = os.open(".", os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _is_usable() -> bool:
    """Made here, and whole: a moved checkout or a removed Python make it unusable."""
    return _stamp().get("venv") == str(VENV.resolve()) and _runs()


def _runs() -> bool:
    try:
        return subprocess.run([PYTHON, "-c", ""], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _make() -> None:
    if importlib.util.find_spec("ensurepip") is None:
        raise Failed(
            f"{sys.executable} lacks the module venv: install it "
            f"(on Debian and Ubuntu: apt-get install python3.{sys.version_info.minor}-venv)."
        )
    # Scripts in .venv name its path, and a link to a Python that is gone would never be renewed.
    is_foreign = STAMP.exists() or (PYTHON.is_symlink() and not _runs())
    # By the base interpreter, since the one in .venv may be what is being replaced.
    base = str(getattr(sys, "_base_executable", sys.executable))
    command = [base, "-m", "venv", *(["--clear"] if is_foreign else []), str(VENV)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Failed(f"python -m venv said: {_last_line(made.stdout + made.stderr)}")
    STAMP.write_text(json.dumps({"venv": str(VENV.resolve())}))


def _pip(requirements: Sequence[str]) -> None:
    command = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    # Everything is named with its hash, so there is nothing to resolve, to build or to doubt.
    command += ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--no-compile"]
    command += [part for name in requirements for part in ("-r", name)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise Failed(f"pip said: {_last_error(done.stderr + done.stdout)}")
    _compile()


def _compile() -> None:
    """On all cores, which pip does on one; without it the first six processes would all do it at once."""
    command = [str(PYTHON), "-m", "compileall", "-q", "-j", "0", str(VENV / "lib")]
    # A package may carry a file of a later Python's; it is never imported here.
    subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)


def _last_error(text: str) -> str:
    errors = [line for line in text.splitlines() if line.startswith("ERROR:")]
    return errors[-1] if errors else _last_line(text)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "nothing"


def _stamp() -> dict[str, str]:
    try:
        return dict(json.loads(STAMP.read_text()))
    except (OSError, ValueError):
        return {}


def _note(digests: dict[str, str]) -> None:
    STAMP.write_text(json.dumps(_stamp() | digests, indent=2))


def _digest(name: str) -> str:
    return hashlib.sha256(Path(name).read_bytes()).hexdigest()


def _count(name: str) -> int:
    return sum(1 for line in Path(name).read_text().splitlines() if "==" in line.split("#")[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
