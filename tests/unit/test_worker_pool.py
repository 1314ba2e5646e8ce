"""The pool of a worker: processes without a run need not be waited for."""

import signal
from typing import Any

import pytest
from celery.worker import state as worker_state

from config.celery import app
from jobs.worker.pool import EnginePool


@pytest.mark.parametrize(("running", "exit_code"), [(False, -signal.SIGKILL), (True, 0)])
def test_a_pool_that_is_stopped_kills_its_processes_only_while_nothing_runs(monkeypatch, running, exit_code):
    monkeypatch.setattr(worker_state, "reserved_requests", {object()} if running else set())
    pool: Any = EnginePool(1, app=app, initargs=(app, "pool@test"))
    pool.start()
    (process,) = pool._pool._pool
    pool.stop()
    assert process.exitcode == exit_code
