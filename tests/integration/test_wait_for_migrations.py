"""`wait_for_migrations` waits, reports the missing migrations, and then executes its command."""

import subprocess

import pytest
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from jobs.management.commands.wait_for_migrations import (
    describe_missing_migrations,
    join_names,
    wait_messages,
)
from tests.integration.commands import run_process
from tests.workers import database_url


def run_command(*arguments: str, url: str) -> "subprocess.CompletedProcess[str]":
    return run_process("wait_for_migrations", *arguments, DATABASE_URL=url)


@pytest.mark.django_db(transaction=True)
def test_the_command_is_executed_when_all_migrations_are_applied():
    done = run_command("--", "/bin/sh", "-c", "echo pid $$ $0; exit 7", "name", url=database_url())
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout.split()[0] == "pid"
    assert done.stdout.split()[2] == "name"


@pytest.mark.django_db(transaction=True)
def test_a_command_that_does_not_exist_is_named():
    done = run_command("--", "no-such-program", url=database_url())
    assert done.returncode == 1
    assert done.stderr == "CommandError: no-such-program cannot be run: No such file or directory.\n"


def test_an_unreachable_database_is_named_and_the_command_is_not_run():
    done = run_command("--seconds", "0", "--", "echo", "ran", url="postgresql://127.0.0.1:1/nowhere")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("CommandError: Gave up. Waiting for the database: ")


@pytest.mark.django_db
def test_missing_migrations_are_named():
    assert describe_missing_migrations() == ""
    newest = MigrationRecorder.Migration.objects.filter(app="jobs").order_by("name").last()
    newest.delete()
    assert describe_missing_migrations() == f"Waiting for migrations, 1 in all: jobs.{newest.name}"
    assert not connection.needs_rollback


def test_the_wait_reports_each_change_once_and_ends_when_nothing_is_missing():
    answers = iter(["the database", "the database", "two", "one", ""])
    pauses: list[float] = []
    messages = list(wait_messages(lambda: next(answers), until=10, pause=pauses.append, clock=lambda: 0))
    assert messages == ["the database", "two", "one"]
    assert len(pauses) == 4


def test_the_wait_ends_with_an_error_that_names_the_missing_migrations():
    clock = iter([0.0, 1.0, 2.0])
    with pytest.raises(CommandError, match=r"Gave up\. one migration"):
        list(wait_messages(lambda: "one migration", until=2, pause=lambda _: None, clock=lambda: next(clock)))


def test_the_first_ten_of_many_names_are_listed():
    assert join_names(["a", "b"]) == "a, b"
    assert join_names([str(number) for number in range(12)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
