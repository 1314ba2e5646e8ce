"""Waits until the database has every migration that this code needs, and prints those that are missing.

Then it replaces itself by the command after `--`: it is the entrypoint of the image.
"""

import os
import time
from argparse import REMAINDER, ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor

from jobs.texts import first_line

EVERY_SECONDS = 1.0
MOST_NAMES = 10


class Command(BaseCommand):
    help = "Waits for the migrations, prints those that are missing, and then runs the command after `--`."
    # The checks look at the database, which may not be there yet.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seconds", type=float, default=300.0, help="seconds to wait (default: 300)")
        parser.add_argument("command", nargs=REMAINDER, help="the command to run then")

    def handle(self, *args: Any, **options: Any) -> None:
        for message in wait_messages(
            describe_missing_migrations, until=time.monotonic() + options["seconds"], pause=time.sleep
        ):
            self.stderr.write(message)
        connection.close()
        if command := without_dashes(options["command"]):
            try:
                os.execvp(command[0], command)  # noqa: S606 (signals must reach the command itself)
            except OSError as error:
                raise CommandError(f"{command[0]} cannot be run: {error.strerror}.") from None


def wait_messages(
    describe_missing: Callable[[], str],
    *,
    until: float,
    pause: Callable[[float], None],
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[str]:
    """Yield the missing migrations each time they change; end when none is missing."""
    last = ""
    while current := describe_missing():
        if clock() >= until:
            raise CommandError(f"Gave up. {current}")
        if current != last:
            yield current
            last = current
        pause(EVERY_SECONDS)


def describe_missing_migrations() -> str:
    """A description; empty when nothing is missing."""
    try:
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except (DatabaseError, InterfaceError) as error:
        connection.close()
        return f"Waiting for the database: {first_line(error)}"
    names = [f"{migration.app_label}.{migration.name}" for migration, _ in plan]
    return f"Waiting for migrations, {len(names)} in all: {join_names(names)}" if names else ""


def join_names(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def without_dashes(command: Sequence[str]) -> list[str]:
    return list(command[1:] if command[:1] == ["--"] else command)
