"""The pool of a worker: processes without a run need not be waited for."""

import signal
import time
from types import SimpleNamespace
from typing import Any

import pytest
from celery.worker import state as worker_state

from config.celery import app
from jobs.worker.drain import ConsumerGate
from jobs.worker.pool import EnginePool


@pytest.mark.parametrize(
    ("running", "cold", "exit_code"),
    [(False, None, -signal.SIGKILL), (True, None, 0), (True, True, -signal.SIGKILL)],
)
def test_a_pool_that_is_stopped_kills_its_processes_if_no_run_is_waited_for(
    monkeypatch, running, cold, exit_code
):
    monkeypatch.setattr(worker_state, "reserved_requests", {object()} if running else set())
    monkeypatch.setattr(worker_state, "should_terminate", cold)
    pool: Any = EnginePool(1, app=app, initargs=(app, "pool@test"))
    pool.start()
    (process,) = pool._pool._pool
    if running and cold:
        pool._pool.apply_async(time.sleep, (300,))  # Celery would wait for its result
    pool.stop()
    assert process.exitcode == exit_code


@pytest.mark.parametrize("cold", [True, 0])
def test_a_worker_that_stops_cold_does_not_ask_its_pool_whether_to_read(monkeypatch, cold):
    def ask() -> bool:
        raise AttributeError("the pool has gone")

    channel = SimpleNamespace(qos=SimpleNamespace(can_consume=ask), _in_poll=None)
    ConsumerGate(None).start(SimpleNamespace(task_consumer=SimpleNamespace(channel=channel)))
    monkeypatch.setattr(worker_state, "should_terminate", cold)
    assert channel.qos.can_consume() is False
    channel._in_poll = "a connection"
    assert channel.qos.can_consume() is True, "the answer of a poll that has begun is read"
