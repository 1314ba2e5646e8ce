"""Writes a migration for each SQL file that has changed since it was frozen."""

from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand

from jobs.sql.freeze import Frozen, write_migration


class Command(BaseCommand):
    help = "Writes a migration for each file of database functions that differs from its last frozen copy."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        for app in apps.get_app_configs():
            frozen = Frozen.newest(Path(app.path))
            if frozen is not None and not frozen.is_current:
                self.stdout.write(f"wrote {write_migration(frozen)}")
