"""A worker's registration by its lease keeper's thread, and its deletion by the main loop."""

import threading
from functools import partial
from types import SimpleNamespace

import pytest

from jobs.models import Worker
from jobs.sql import call, statements
from jobs.worker.registration import WorkerRow
from tests.concurrency.threads import PATIENCE, start_thread

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def row():
    return WorkerRow(SimpleNamespace(hostname="stopping@test", consumer=None, concurrency=1))


def test_a_registration_under_way_does_not_outlive_the_deregistration(row, monkeypatch):
    registering, deregistered = threading.Event(), threading.Event()

    def slow_roles():
        registering.set()
        assert deregistered.wait(PATIENCE)
        return []

    monkeypatch.setattr(row, "roles", slow_roles)
    thread = start_thread(partial(row.write, 0))
    assert registering.wait(PATIENCE)
    row.delete()
    deregistered.set()
    thread.result(PATIENCE)
    assert not Worker.objects.filter(name="stopping@test").exists()


def test_a_deregistration_waits_for_the_registration_that_is_being_written(row, monkeypatch):
    writing, may_write = threading.Event(), threading.Event()
    rows = call.rows

    def slow_rows(statement, values):
        if statement == statements.REGISTER_WORKER:
            writing.set()
            assert may_write.wait(PATIENCE)
        return rows(statement, values)

    monkeypatch.setattr(call, "rows", slow_rows)
    registration = start_thread(partial(row.write, 0))
    assert writing.wait(PATIENCE)
    deregistration = start_thread(row.delete)
    # Without the lock the deletion would be written now, before the registration.
    with pytest.raises(TimeoutError):
        deregistration.result(0.3)
    may_write.set()
    registration.result(PATIENCE)
    deregistration.result(PATIENCE)
    assert not Worker.objects.filter(name="stopping@test").exists()
