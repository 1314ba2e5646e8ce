"""Creates `.venv` and installs the locked requirements into it, unless that is done already.

Any Python 3.11 runs this file; it uses only the standard library.
"""

import argparse
import fcntl
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

VENV = Path(".venv")
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "installed.json"
EMBEDDED = "requirements-embedded.txt"


class Failed(Exception):
    """A step of the installation failed; the message is a sentence."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="install", description=__doc__)
    parser.add_argument("--steps", type=int, default=2, help="the number of steps of the whole command")
    parser.add_argument("requirements", nargs="+")
    options = parser.parse_args()
    # With servers of your own, the wheels of the embedded ones are not needed.
    own_servers = os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL")
    requirements = [name for name in options.requirements if not (own_servers and name == EMBEDDED)]
    lock = os.open(".", os.O_RDONLY)
    try:
        # `make up` and `make test` may both run this at once.
        fcntl.flock(lock, fcntl.LOCK_EX)
        started_at = time.monotonic()
        make_venv()
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        report(f"[1/{options.steps}] Python {version} in .venv", started_at)
        started_at = time.monotonic()
        number = install(requirements)
        link_package()
        report(f"[2/{options.steps}] Packages, {number} locked", started_at)
    except (Failed, OSError) as error:
        print(f"Cannot install: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def report(step: str, started_at: float) -> None:
    print(f"{step} ✓ {time.monotonic() - started_at:.1f} s", flush=True)


def make_venv() -> None:
    # A venv that was moved, or whose Python was removed, does not work.
    if stamp().get("venv") == str(VENV.resolve()) and venv_runs():
        return
    if importlib.util.find_spec("ensurepip") is None:
        raise Failed(
            f"{sys.executable} lacks the module venv: install it "
            f"(on Debian and Ubuntu: apt-get install python3.{sys.version_info.minor}-venv)."
        )
    clear = ["--clear"] if STAMP.exists() or (PYTHON.is_symlink() and not venv_runs()) else []
    # The base interpreter, since this may replace the one in .venv.
    base = str(getattr(sys, "_base_executable", sys.executable))
    run("python -m venv", [base, "-m", "venv", *clear, str(VENV)])
    STAMP.write_text(json.dumps({"venv": str(VENV.resolve())}))


def venv_runs() -> bool:
    try:
        return subprocess.run([PYTHON, "-c", ""], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def install(requirements: list[str]) -> int:
    """Installs the files that have changed; returns the number of packages in all of them."""
    digests = {name: hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in requirements}
    changed = {name: digest for name, digest in digests.items() if stamp().get(name) != digest}
    if changed:
        # Every package is listed with its hash, so pip resolves and builds nothing.
        options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-compile"]
        options += ["--no-deps", "--require-hashes", "--only-binary", ":all:"]
        files = [part for name in sorted(changed) for part in ("-r", name)]
        run("pip", [str(PYTHON), "-m", "pip", "install", *options, *files])
        # On all cores; otherwise each of the first processes would compile everything. Errors do not matter,
        # since a package may contain a file for a later Python.
        subprocess.run(
            [PYTHON, "-m", "compileall", "-q", "-j", "0", VENV / "lib"], capture_output=True, check=False
        )
        STAMP.write_text(json.dumps(stamp() | changed, indent=2))
    return sum(line.count("==") for name in requirements for line in Path(name).read_text().splitlines())


def link_package() -> None:
    """Puts the package `dure` on the environment's path: an editable install without a build."""
    for site in VENV.glob("lib/python3.*/site-packages"):
        path = site / "dure.pth"
        line = f"{Path('sdk').resolve()}\n"
        if not path.exists() or path.read_text() != line:
            path.write_text(line)


def run(name: str, command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR:")]
        raise Failed(f"{name}: {(errors or lines or ['exit code ' + str(done.returncode)])[-1].strip()}")


def stamp() -> dict[str, str]:
    try:
        return dict(json.loads(STAMP.read_text()))
    except (OSError, ValueError):
        return {}


if __name__ == "__main__":
    sys.exit(main())
