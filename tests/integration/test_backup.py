"""docs/operations.md: a backup restores the rows and the files."""

import os
import subprocess
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest
from django.db import connection

from config.dev.postgres import binary
from tests.acceptance.shell import command_blocks
from tests.factories import a_job, an_office
from tests.workers import database_url

pytestmark = pytest.mark.django_db(transaction=True)


def command(word: str) -> str:
    (block,) = [block for block in command_blocks("docs/operations.md") if word in block]
    return block


def test_a_backup_is_restored_into_another_database(tmp_path: Path) -> None:
    job = a_job(an_office(), args={"numbers": [1, 2]})
    folders = [tmp_path / "replays", tmp_path / "exports"]
    for folder in folders:
        folder.mkdir()
        (folder / "file").write_text(folder.name)
    environment = {
        **os.environ,
        # The programs of the embedded server, whose version is the server's.
        "PATH": os.pathsep.join([str(binary("pg_dump").parent), os.environ["PATH"]]),
        "DATABASE_URL": database_url(),
        "DURE_REPLAY_PATH": str(folders[0]),
        "DURE_EXPORT_PATH": str(folders[1]),
    }

    def run(script: str) -> None:
        done = subprocess.run(
            ["/bin/sh", "-euc", script],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    run(command("pg_dump"))
    for folder in folders:
        (folder / "file").unlink()
    original = connection.settings_dict["NAME"]
    name = f"{original}_restored"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {connection.ops.quote_name(name)}")
    try:
        environment["DATABASE_URL"] = database_url().replace(f"/{original}", f"/{name}")
        run(command("pg_restore"))
        with closing(psycopg2.connect(environment["DATABASE_URL"])) as restored, restored.cursor() as cursor:
            cursor.execute("SELECT id, args FROM job_queue")
            assert cursor.fetchall() == [(job.id, {"numbers": [1, 2]})]
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE {connection.ops.quote_name(name)}")
    assert [(folder / "file").read_text() for folder in folders] == ["replays", "exports"]
