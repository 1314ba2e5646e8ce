"""The time that the lease keeper gives the watchdog, and its end."""

import os
import subprocess
import threading
from types import SimpleNamespace

from jobs.subprocesses.watchdog import boot_time
from jobs.worker.lease_keeper import LeaseKeeper, Report
from jobs.worker.leased_runs import LeasedRun


def keeper(*runs: LeasedRun) -> LeaseKeeper:
    result = LeaseKeeper(SimpleNamespace(hostname="w@test"))
    result.runs = {run.message: run for run in runs}
    return result


def a_run(pid: int | None, confirmed: float) -> LeasedRun:
    return LeasedRun(f"m{pid}", "execution", 1, pid=pid, confirmed=confirmed)


def test_the_watchdog_waits_for_the_run_that_was_confirmed_first():
    early = boot_time() - 10
    alone, both = (
        keeper(*runs)
        for runs in ([a_run(os.getpid(), early)], [a_run(1, early + 5), a_run(os.getpid(), early)])
    )
    assert alone.watchdog_time() == both.watchdog_time() < boot_time() + 30


def test_a_run_whose_process_has_died_does_not_end_the_others():
    """Celery may need seconds to notice the death; the watchdog must not kill all other runs meanwhile."""
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    zombie, gone = a_run(ended.pid, boot_time() - 1_000), a_run(2**22 - 1, boot_time() - 1_000)
    living = a_run(os.getpid(), boot_time())
    assert keeper(zombie, gone, living).watchdog_time() > boot_time()
    ended.wait()


class HeldKeeper(LeaseKeeper):
    """Writes no end of a run before it is allowed to."""

    def __init__(self) -> None:
        super().__init__(SimpleNamespace(hostname="w@test"))
        self.next_renewal = boot_time() + 1_000
        self.allowed = threading.Event()
        self.ends: list[str] = []

    def watchdog_time(self) -> float:
        return boot_time() + 1_000

    def end_run(self, kind: Report, message: str, text: str) -> None:
        assert self.allowed.wait(30)
        self.ends.append(message)


def test_the_worker_exits_only_after_all_that_was_reported_is_done():
    held = HeldKeeper()
    held.finish()  # it has not begun
    held.start()
    for message in ("first", "second"):
        held.report(Report.RELEASE, message)
    exit_of_worker = threading.Thread(target=held.finish)
    exit_of_worker.start()
    exit_of_worker.join(0.1)
    assert exit_of_worker.is_alive()
    held.allowed.set()
    exit_of_worker.join()
    assert held.ends == ["first", "second"]
    assert not held.is_alive()
