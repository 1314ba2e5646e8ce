"""A message in the worker's main process: sees its pool process die, and reports it."""

from typing import Any

from billiard.einfo import ExceptionWithTraceback
from billiard.exceptions import WorkerLostError
from celery.worker import state as worker_state
from celery.worker.request import Request

from jobs.subprocesses import process_tree
from jobs.worker import lease_keeper


class EngineRequest(Request):  # type: ignore[misc]
    engine_request = True

    def on_failure(self, exc_info: Any, send_failed_event: bool = True, return_ok: bool = False) -> Any:
        error = exc_info.exception
        if isinstance(error, ExceptionWithTraceback):
            error = error.exc
        if isinstance(error, (WorkerLostError, SystemExit, KeyboardInterrupt)):
            kind = lease_keeper.BACK if stopping() else lease_keeper.LOST
            self.report(kind, f"The process that ran this died: {error}")
        return super().on_failure(exc_info, send_failed_event=send_failed_event, return_ok=return_ok)

    def cancel(self, pool: Any, signal: Any = None, emit_retry: bool = True) -> Any:
        """The worker stops and has waited long enough: this run goes back, and nothing of it stays behind."""
        pid = self.worker_pid
        answer = super().cancel(pool, signal=signal, emit_retry=emit_retry)
        if pid:
            process_tree.kill_tree(pid)
        self.report(lease_keeper.BACK, "")
        return answer

    def report(self, kind: str, message: str) -> None:
        if lease_keeper.current is not None:
            execution, dispatch = self.args
            lease_keeper.current.report(kind, str(execution), int(dispatch), message)


def stopping() -> bool:
    """Is this worker on its way out? Then a process that goes was sent away."""
    return any(
        asked is not None and asked is not False
        for asked in (worker_state.should_stop, worker_state.should_terminate)
    )
