"""A message in the worker's main process: sees its pool process die or overrun, and reports it."""

from typing import Any

from billiard.einfo import ExceptionWithTraceback
from billiard.exceptions import WorkerLostError
from celery.worker.request import Request

from jobs import processes
from jobs.supervise import heart


class EngineRequest(Request):  # type: ignore[misc]
    engine_request = True

    def on_failure(self, exc_info: Any, send_failed_event: bool = True, return_ok: bool = False) -> Any:
        error = exc_info.exception
        if isinstance(error, ExceptionWithTraceback):
            error = error.exc
        if isinstance(error, (WorkerLostError, SystemExit, KeyboardInterrupt)):
            self.report("lost", f"The process that ran this died: {error}")
        return super().on_failure(exc_info, send_failed_event=send_failed_event, return_ok=return_ok)

    def on_timeout(self, soft: bool, timeout: float) -> Any:
        if not soft:
            # Celery is about to kill the pool process; its children are found only as long as it lives.
            if self.worker_pid:
                processes.kill_tree(self.worker_pid)
            self.report("overrun", "")
        return super().on_timeout(soft, timeout)

    def report(self, kind: str, message: str) -> None:
        if heart.current is not None:
            execution, dispatch = self.args
            heart.current.report(kind, str(execution), int(dispatch), message)
