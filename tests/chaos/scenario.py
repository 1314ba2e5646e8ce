"""What both scenarios do: set up the database, wait for the end, keep the logs, and say what broke."""

import argparse
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.chaos.breakages import broken
from tests.workers import QUICK

if TYPE_CHECKING:
    from tests.chaos.cluster import Cluster, Servers


def prepare(servers: "Servers", folder: Path, without: str | None = None) -> Path:
    """Sets up Django and the database, without this guard; returns the path of the witness file."""
    witness = folder / "witness"
    os.environ.update(
        QUICK,
        DATABASE_URL=servers.database_url,
        REDIS_URL=servers.redis_url,
        DJANGO_SETTINGS_MODULE="config.settings",
        DURE_WORKER_MODULES="tests.chaos.bodies",
        CHAOS_WITNESS=str(witness),
        CHAOS_BREAK=without or "",
        DURE_LOG_LEVEL="WARNING",
    )
    import django

    django.setup()
    from django.core.management import call_command

    import tests.chaos.bodies  # noqa: F401 (what this process submits is known before a worker is there)

    call_command("migrate", verbosity=0)
    take_out(without)
    return witness


def take_out(name: str | None) -> None:
    from jobs.sql import call

    text = broken(name) if name else None
    if text is not None:
        call.change(text)


def wait_for_the_end(patience: float, cluster: "Cluster") -> bool:
    """Waits until no job is ready, running, due later or unblocked, and no run without a job is live."""
    from django.db import DatabaseError, InterfaceError, connection

    from tests.chaos.sampler import LIVE_WITHOUT_JOB, UNFINISHED

    until = time.monotonic() + patience
    while time.monotonic() < until:
        cluster.keep_up()
        try:
            with connection.cursor() as cursor:
                cursor.execute(f"SELECT ({UNFINISHED}) + ({LIVE_WITHOUT_JOB})")
                if cursor.fetchone()[0] == 0:
                    return True
        except (DatabaseError, InterfaceError):
            connection.close()
        time.sleep(0.3)
    return False


def keep(options: argparse.Namespace, folder: Path) -> None:
    if options.keep:
        ignored = shutil.ignore_patterns("data", "primary", "standby", "run")
        shutil.copytree(folder, options.keep, ignore=ignored, dirs_exist_ok=True)


def print_result(wrong: dict[str, list[str]]) -> int:
    for name, breaches in wrong.items():
        print(
            f"{'ok ' if not breaches else 'NOT'} {name.replace('_', ' ')}"
            + (f": {len(breaches)}" if breaches else "")
        )
        for line in breaches[:5]:
            print(f"      {line}")
    violations = sum(len(breaches) for breaches in wrong.values())
    print(f"{violations} violations")
    return 1 if violations else 0
