#!/usr/bin/env python
"""Django's command line for Dure."""

import os
import sys


def main() -> None:
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
