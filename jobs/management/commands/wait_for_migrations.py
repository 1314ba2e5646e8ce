"""Waits until the database has every migration that this code needs, and says for which it waits.

With a command after `--` it then becomes that command: the entrypoint of the image.
"""

import os
import time
from argparse import REMAINDER, ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor

EVERY_SECONDS = 1.0
MOST_NAMES = 10


class Command(BaseCommand):
    help = "Waits for the migrations, names those that are missing, and then runs the command after `--`."
    # The checks look at the database, which may not be there yet.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seconds", type=float, default=300.0, help="how long to wait, 300 by default")
        parser.add_argument("command", nargs=REMAINDER, help="what to become then")

    def handle(self, *args: Any, **options: Any) -> None:
        for complaint in waiting(missing, until=time.monotonic() + options["seconds"], pause=time.sleep):
            self.stderr.write(complaint)
        connection.close()
        if command := without_dashes(options["command"]):
            try:
                os.execvp(command[0], command)  # noqa: S606 (signals must reach it, not us)
            except OSError as error:
                raise CommandError(f"{command[0]} cannot be run: {error.strerror}.") from None


def waiting(
    what_is_missing: Callable[[], str],
    *,
    until: float,
    pause: Callable[[float], None],
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[str]:
    """What it waits for, each time that this has changed."""
    said = ""
    while lacking := what_is_missing():
        if clock() >= until:
            raise CommandError(f"Gave up. {lacking}")
        if lacking != said:
            yield lacking
            said = lacking
        pause(EVERY_SECONDS)


def missing() -> str:
    """In words; empty when nothing is."""
    try:
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except (DatabaseError, InterfaceError) as error:
        connection.close()
        return f"Waiting for the database: {str(error).strip().splitlines()[0]}"
    names = [f"{migration.app_label}.{migration.name}" for migration, _ in plan]
    return f"Waiting for migrations, {len(names)} in all: {listed(names)}" if names else ""


def listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def without_dashes(command: Sequence[str]) -> list[str]:
    return list(command[1:] if command[:1] == ["--"] else command)
