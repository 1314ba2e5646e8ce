"""A separate database and separate Redis numbers, for programs that measure or break things."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

NUMBERS = {"engine": 13, "raw_broker": 14, "raw_results": 15}


def redis_url(number: int) -> str:
    parts = urlsplit(os.environ["REDIS_URL"])
    return urlunsplit(parts._replace(path=f"/{number}"))


@contextmanager
def scratch(modules: str = "tests.bench.bodies", **settings: str) -> Iterator[Path]:
    """Django on an empty, migrated database; a folder for logs. Everything is gone afterwards."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if not (os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL")):
        raise SystemExit(
            "Start this through `make bench` or `make chaos`, or set DATABASE_URL and REDIS_URL."
        )
    import psycopg2

    home = os.environ["DATABASE_URL"]
    name = f"dure_scratch_{os.getpid()}"
    raw_broker = redis_url(NUMBERS["raw_broker"])
    raw_result = redis_url(NUMBERS["raw_results"])
    os.environ.update(
        DATABASE_URL=urlunsplit(urlsplit(home)._replace(path=f"/{name}")),
        REDIS_URL=redis_url(NUMBERS["engine"]),
        RAW_BROKER_URL=raw_broker,
        RAW_RESULT_URL=raw_result,
        DURE_WORKER_MODULES=modules,
        DURE_LOG_LEVEL="WARNING",
        **settings,
    )
    admin = psycopg2.connect(home)
    admin.autocommit = True
    admin.cursor().execute(f'DROP DATABASE IF EXISTS "{name}"')
    admin.cursor().execute(f'CREATE DATABASE "{name}"')
    try:
        import django

        django.setup()
        for module in filter(None, modules.split(",")):
            import_module(module)  # what this process submits is known before a worker is there
        flush()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        with tempfile.TemporaryDirectory(prefix="dure-scratch-") as folder:
            yield Path(folder)
    finally:
        from django.db import connections

        from tests.fast_teardown import close_other_connections

        connections.close_all()
        close_other_connections()
        connections.close_all()
        flush()
        # Not by FORCE, with which only a superuser may end autovacuum; without it, autovacuum is waited for.
        admin.cursor().execute(f'DROP DATABASE IF EXISTS "{name}"')
        admin.close()


def flush() -> None:
    from redis import Redis

    for number in NUMBERS.values():
        with Redis.from_url(redis_url(number)) as client:
            client.flushdb()
