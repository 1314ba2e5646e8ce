"""A pool of processes that stops at once when no run is waited for."""

import os
import signal
from contextlib import suppress
from typing import Any

from billiard.pool import CLOSE, RUN
from celery.concurrency.prefork import TaskPool
from celery.worker import state as worker_state

from jobs.worker import stopping


class EnginePool(TaskPool):  # type: ignore[misc]
    _pool: Any

    def on_stop(self) -> None:
        """Processes look only once a second whether they are to end; those that have no run need not look.

        Nothing is sent to a process meanwhile: the main process, which would do so, is here. In a cold stop
        the runs have been released; those that have begun unseen are released afterwards.
        """
        pool = self._pool
        has_runs = bool(worker_state.reserved_requests) and not stopping.is_cold()
        if pool is not None and pool._state in (RUN, CLOSE) and not has_runs:
            pool.close()  # what ends now is not replaced
            pool._cache.clear()  # a result that is waited for takes half a second for each process
            for process in pool._pool:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            pool.join()
            self._pool = None
        super().on_stop()
