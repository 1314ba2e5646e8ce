"""Programs that try to outlive the run which started them: see the Task `try.programs`."""

from jobs.models import Job
from jobs.subprocesses import process_tree
from tests.engine_tasks import PROGRAMS
from tests.engine_workers import Workers, lines
from tests.factories import a_job, an_office
from tests.unit.process_tools import is_alive
from tests.workers import command_of, eventually


def submit_programs(path: str, until: str = "") -> Job:
    return a_job(an_office(), task_id="try.programs", args={"path": path, "until": until}, max_retries=0)


def running_programs(path: str) -> list[int]:
    """The ids of the programs, once they all run."""
    eventually(lambda: len(lines(path)) == PROGRAMS, what="the programs")
    pids = [int(line) for line in lines(path)]
    assert all(is_alive(pid) for pid in pids)
    return pids


def expect_the_end(pids: list[int]) -> None:
    eventually(lambda: not any(is_alive(pid) for pid in pids), what="the end of the programs")


def watchdog_of(worker: Workers) -> int:
    (pid,) = watchdogs_of(worker)
    return pid


def watchdogs_of(worker: Workers) -> list[int]:
    return [pid for pid in worker.process.children() if b"watchdog" in command_of(pid)]


def successor_of(watchdog: int) -> int:
    eventually(lambda: process_tree.children(watchdog), what="the successor")
    (pid,) = process_tree.children(watchdog)
    return pid
