"""Django's `migrate`, which also notices a database that other contents of the same migrations have made."""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate

from jobs.sql import drift


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if problem := drift.problem():
            raise CommandError(f"{problem} {drift.REMEDY}")
