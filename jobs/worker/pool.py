"""A pool of processes that stops at once while nothing runs."""

import os
import signal
from contextlib import suppress
from typing import Any

from billiard.pool import CLOSE, RUN
from celery.concurrency.prefork import TaskPool
from celery.worker import state as worker_state


class EnginePool(TaskPool):  # type: ignore[misc]
    _pool: Any

    def on_stop(self) -> None:
        """Processes look only once a second whether they are to end; those that have no run need not look.

        Nothing is sent to a process meanwhile: the main process, which would do so, is here.
        """
        pool = self._pool
        if pool is not None and pool._state in (RUN, CLOSE) and not worker_state.reserved_requests:
            pool.close()  # what ends now is not replaced
            for process in pool._pool:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            pool.join()
            self._pool = None
        super().on_stop()
