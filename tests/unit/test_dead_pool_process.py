"""A pool process that is dead while the worker connects to the broker again."""

import os
import signal
from types import SimpleNamespace

import pytest
from celery.concurrency.prefork import TaskPool
from celery.worker.components import Pool
from kombu.asynchronous import Hub

from config.celery import app
from jobs.worker.bootstep import DeadProcessStep
from tests.workers import eventually


@pytest.fixture
def worker():
    pool = TaskPool(1, app=app, threads=False, initargs=(app, "w@test"))
    pool.start()
    yield SimpleNamespace(pool=pool)
    pool.terminate()


def replaced(worker, hub, pid):
    hub.run_once()
    return [process.pid for process in worker.pool._pool._pool] not in ([], [pid])


def test_a_pool_with_a_dead_process_can_be_registered_again(worker):
    hub = Hub(timer=None)
    worker.pool.register_with_event_loop(hub)
    (process,) = worker.pool._pool._pool
    # Its end is noticed a moment before it can be waited for, and then the broker goes away.
    worker.pool._pool._untrack_child_process(process, hub)
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(ValueError, match="descriptor is None"):
        worker.pool.register_with_event_loop(hub)

    DeadProcessStep(worker).register_with_event_loop(worker, hub)
    worker.pool.register_with_event_loop(hub)
    eventually(lambda: replaced(worker, hub, process.pid), what="a new process")


def test_the_step_comes_before_the_pool():
    blueprint = app.WorkController.Blueprint(steps=app.steps["worker"])
    order = blueprint._finalize_steps(blueprint.claim_steps())
    # Celery asks them in reverse.
    assert order.index(DeadProcessStep) > order.index(Pool)
