"""A message in the worker's main process: sees its pool process die, and reports it."""

from typing import Any

from billiard.einfo import ExceptionWithTraceback
from billiard.exceptions import WorkerLostError
from celery.exceptions import Ignore
from celery.worker import state as worker_state
from celery.worker.request import Request

from jobs.log_fields import about_run
from jobs.runner import CANCELLED
from jobs.subprocesses import process_tree
from jobs.worker import lease_keeper
from jobs.worker.lease_keeper import Report


class EngineRequest(Request):  # type: ignore[misc]
    engine_request = True

    def on_failure(self, exc_info: Any, send_failed_event: bool = True, return_ok: bool = False) -> Any:
        error = exc_info.exception
        if isinstance(error, ExceptionWithTraceback):
            error = error.exc
        if isinstance(error, (WorkerLostError, SystemExit, KeyboardInterrupt)):
            kind = Report.RELEASE if stopping() else Report.LOST
            self.report(kind, f"The process that ran this died: {error}")
        elif isinstance(error, Ignore):
            self.send_end(str(error))
        with about_run(str(self.args[0])):
            return super().on_failure(exc_info, send_failed_event=send_failed_event, return_ok=return_ok)

    def send_end(self, why: str) -> None:
        """Tell Flower that a message has ended, which Celery does not do for a message that is ignored."""
        if why == CANCELLED:
            self.send_event("task-revoked", terminated=False, signum=None, expired=False)
        else:
            self.send_event("task-rejected", requeue=False)

    def cancel(self, pool: Any, signal: Any = None, emit_retry: bool = True) -> Any:
        """The worker stops and has waited long enough: release this run, and kill all of its processes."""
        pid = self.worker_pid
        answer = super().cancel(pool, signal=signal, emit_retry=emit_retry)
        if pid:
            process_tree.kill_tree(pid)
        self.report(Report.RELEASE, "")
        return answer

    def report(self, kind: Report, message: str) -> None:
        if lease_keeper.current is not None:
            lease_keeper.current.report(kind, self.id, text=message)


def stopping() -> bool:
    """Whether this worker is stopping; then the exit of a process is no loss."""
    flags = (worker_state.should_stop, worker_state.should_terminate)
    return any(flag is not None and flag is not False for flag in flags)
