#!/usr/bin/env python
"""Django's command line for Dure."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

# The Python into which `make up` installs the packages.
VENV_PYTHON = Path(__file__).resolve().parent / ".venv" / "bin" / "python"


def main() -> None:
    if find_spec("django") is None and VENV_PYTHON.exists():
        os.execv(VENV_PYTHON, [str(VENV_PYTHON), *sys.argv])  # noqa: S606 (our own arguments)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as problem:
        from config.doctor import without_settings

        sys.exit(without_settings.exit_code(sys.argv[1:], problem))


if __name__ == "__main__":
    main()
