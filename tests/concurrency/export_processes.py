"""Export workers and listeners as processes, and what they leave behind."""

import hashlib
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from django.conf import settings as live_settings

from exports.models import ExportEvent, ExportJob
from exports.states import TERMINAL, Status
from jobs import sweeps
from jobs.subprocesses import process_tree
from tests import workers
from tests.unit.process_tools import PATIENCE
from tests.workers import Process, command_of, eventually

QUICK = {**workers.QUICK, "DURE_STREAM_CLAIM_SECONDS": "0.5"}


def environment() -> dict[str, str]:
    return {
        **QUICK,
        "DURE_EXPORT_PATH": str(live_settings.DURE_EXPORT_PATH),
        "DURE_REPLAY_PATH": str(live_settings.DURE_REPLAY_PATH),
    }


def listener(folder: Path, name: str, env: dict[str, str] | None = None) -> Process:
    command = [sys.executable, "manage.py", "listen", "--name", name]
    return Process(command, env or workers.environment(environment()), folder / f"{name}.log")


def exporter(folder: Path, name: str, env: dict[str, str] | None = None) -> Process:
    return workers.worker(folder, queues="export,control", concurrency=1, name=name, env=env or environment())


@contextmanager
def running(folder: Path, *makers: str) -> Iterator[dict[str, Process]]:
    with ExitStack() as stack:
        started: dict[str, Process] = {}
        for name in makers:
            made = exporter(folder, name) if name.startswith("export") else listener(folder, name)
            stack.callback(made.stop)
            started[name] = made
        for name, process in started.items():
            process.wait_for_line(" ready." if name.startswith("export") else "listens to")
        yield started


def swept(condition, patience: float = PATIENCE):
    """Waits for a condition, and does the work of beat meanwhile."""

    def condition_with_sweeps():
        sweeps.sweep_once()
        return condition()

    return eventually(condition_with_sweeps, patience, pause=0.1)


def ended(*jobs: ExportJob) -> bool:
    numbers = [job.pk for job in jobs]
    return ExportJob.objects.filter(pk__in=numbers, status__in=TERMINAL).count() == len(jobs)


def after(job: ExportJob) -> ExportJob:
    return ExportJob.objects.get(pk=job.pk)


def files() -> list[Path]:
    return [path for path in live_settings.DURE_EXPORT_PATH.rglob("*") if path.is_file()]


def check_result(job: ExportJob) -> None:
    """The recorded file exists and is complete, and the events only went forward."""
    done = after(job)
    assert done.status == Status.SUCCEEDED, (done.status, done.error_code, done.error_message)
    path = live_settings.DURE_EXPORT_PATH / done.result_uri
    assert hashlib.sha256(path.read_bytes()).hexdigest() == done.result_checksum
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    events = list(ExportEvent.objects.filter(job_id=job.pk).order_by("id"))
    seen = [event.data["progress"] for event in events]
    assert seen == sorted(seen)
    assert [event.type for event in events].count("job.completed") == 1


def readers(worker: Process) -> set[int]:
    """The processes below a worker that read a video."""
    below = process_tree.tree(worker.pid)
    return {pid for pid in below if b"exports.render.sandbox_child" in command_of(pid)}
