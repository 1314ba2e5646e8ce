"""A worker's registration by its lease keeper's thread, and its deletion by the main loop."""

import threading
from types import SimpleNamespace

import pytest

from jobs.models import Worker
from jobs.sql import call, statements
from jobs.worker import lease_keeper
from tests.concurrency.threads import PATIENCE, start_thread

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def keeper(monkeypatch):
    monkeypatch.setattr(lease_keeper, "current", None)
    return lease_keeper.LeaseKeeper(SimpleNamespace(hostname="stopping@test", consumer=None, concurrency=1))


def test_a_registration_under_way_does_not_outlive_the_deregistration(keeper, monkeypatch):
    registering, deregistered = threading.Event(), threading.Event()
    registration = keeper.registration

    def slow_registration():
        registering.set()
        assert deregistered.wait(PATIENCE)
        return registration()

    monkeypatch.setattr(keeper, "registration", slow_registration)
    thread = start_thread(keeper.register)
    assert registering.wait(PATIENCE)
    keeper.deregister()
    deregistered.set()
    thread.result(PATIENCE)
    assert not Worker.objects.filter(name="stopping@test").exists()


def test_a_deregistration_waits_for_the_registration_that_is_being_written(keeper, monkeypatch):
    writing, may_write = threading.Event(), threading.Event()
    rows = call.rows

    def slow_rows(statement, values):
        if statement == statements.REGISTER_WORKER:
            writing.set()
            assert may_write.wait(PATIENCE)
        return rows(statement, values)

    monkeypatch.setattr(call, "rows", slow_rows)
    registration = start_thread(keeper.register)
    assert writing.wait(PATIENCE)
    deregistration = start_thread(keeper.deregister)
    # Without the lock the deletion would be written now, before the registration.
    with pytest.raises(TimeoutError):
        deregistration.result(0.3)
    may_write.set()
    registration.result(PATIENCE)
    deregistration.result(PATIENCE)
    assert not Worker.objects.filter(name="stopping@test").exists()
