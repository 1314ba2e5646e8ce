"""The command line that runs a module of this project in a Python process of its own."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def python_command(module: str, *, site_packages: bool = True) -> tuple[str, ...]:
    """The argv prefix that calls `main(argv)` of `module` with the arguments that follow it.

    -I: neither the environment nor the current folder changes what is imported. Without site packages, -S,
    the process starts faster and imports the standard library only.
    """
    boot = f"import sys; sys.path.insert(0, sys.argv[1]); from {module} import main; main(sys.argv[2:])"
    return (sys.executable, "-I", *(() if site_packages else ("-S",)), "-c", boot, str(ROOT))
