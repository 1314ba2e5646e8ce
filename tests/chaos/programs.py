"""Finds programs that outlive the run that started them.

A program is known by its line in the witness file, and by a variable in its environment that every
descendant of the cluster has. It must have ended PATIENCE seconds after its attempt was recorded as ended,
after its pool process died, or after the whole cluster was stopped.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from django.db import DatabaseError, InterfaceError, connection

from tests.chaos import witness
from tests.chaos.bodies import PROGRAM
from tests.chaos.threads import StoppableThread
from tests.unit.process_tools import is_alive

PATIENCE = 15.0
COMMAND = b"\0".join(part.encode() for part in PROGRAM)
# Its Execution, fence and attempt.
Run = tuple[str, int, int]
ENDED = "SELECT 1 FROM job_attempts WHERE execution_id = %s AND number = %s"


class Programs(StoppableThread):
    def __init__(self, witness: Path) -> None:
        super().__init__()
        self.witness = witness
        self.survivors: list[str] = []
        self.started = 0
        # By the process and its run, since ids of processes come again.
        self._over: dict[tuple[int, Run], float] = {}  # since when the run of a program is over, as seen here
        self._reported: set[tuple[int, Run]] = set()

    def run(self) -> None:
        while not self.stop_asked.wait(0.5):
            with suppress(DatabaseError, InterfaceError):
                self.look()
            if connection.connection is not None and connection.errors_occurred:
                connection.close()
        connection.close()

    def look(self) -> None:
        pool_of, run_of = self.read_witness()
        now = time.monotonic()
        for pid in self.living():
            if pid not in run_of or (pid, run_of[pid]) in self._reported:
                continue
            execution, fence, attempt = run_of[pid]
            program = (pid, run_of[pid])
            pool_is_gone = not is_alive(pool_of.get((execution, fence), os.getpid()))
            if program not in self._over and (pool_is_gone or has_ended(execution, attempt)):
                self._over[program] = now
            if now - self._over.get(program, now) > PATIENCE:
                self._reported.add(program)
                why = "its pool process had died" if pool_is_gone else "its run had ended"
                self.survivors.append(
                    f"program {pid} of {execution}, attempt {attempt}: alive {PATIENCE:.0f} s after {why}"
                )

    def read_witness(self) -> tuple[dict[tuple[str, int], int], dict[int, Run]]:
        lines = witness.read(self.witness)
        pool_of = {(line.execution, line.fence): line.pid for line in lines if line.what == "start"}
        run_of = {
            line.pid: (line.execution, line.fence, line.attempt) for line in lines if line.what == "program"
        }
        self.started = len(run_of)
        return pool_of, run_of

    def living(self) -> Iterator[int]:
        mark = f"CHAOS_WITNESS={self.witness}".encode()
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended
                command = (folder / "cmdline").read_bytes().rstrip(b"\0")
                if command == COMMAND and mark in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)

    def end_with_everything(self) -> None:
        """After the cluster was stopped: reports and ends the programs that are left."""
        until = time.monotonic() + PATIENCE
        while (left := list(self.living())) and time.monotonic() < until:
            time.sleep(0.2)
        for pid in left:
            if pid not in {reported for reported, _ in self._reported}:
                self.survivors.append(f"program {pid}: alive {PATIENCE:.0f} s after everything was stopped")
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def has_ended(execution: str, attempt: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(ENDED, [execution, attempt])
        return cursor.fetchone() is not None
