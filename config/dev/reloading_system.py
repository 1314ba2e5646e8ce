"""`make dev`: a system whose programs start again when a source file is saved."""

import time
from pathlib import Path

from config.dev.home import Home
from config.dev.options import CHECKOUT, Options
from config.dev.process import Process, raise_if_interrupted, stop
from config.dev.procfile import Program
from config.dev.screen import report
from config.dev.source_watcher import SourceWatcher, source_folders
from config.dev.system import TICK_SECONDS, Ended, System

# After a restart, before the next one is prepared.
QUIET_SECONDS = 3.0


class ReloadingSystem(System):
    def __init__(self, home: Home, options: Options, programs: list[Program]) -> None:
        super().__init__(home, options, programs)
        # Before the programs read their files.
        self.watcher = SourceWatcher(source_folders(CHECKOUT, options.python_path))
        self.restarted_at = 0.0

    def watch(self) -> None:
        """Starts the programs again when a source file is saved, until a signal arrives or a server ends.

        A program that ends by itself, for a syntax error or the like, waits for the next change.
        """
        while True:
            raise_if_interrupted()
            try:
                self._tick()
            except Ended as end:
                if end.process in self.servers:
                    raise
                self.processes.remove(end.process)
                report(end.process)
                print("It starts again when you save a change.", flush=True)
            if files := self.watcher.changed_files():
                self._restart(files)
            elif self.fork_servers and time.monotonic() > self.restarted_at + QUIET_SECONDS:
                self.fork_servers.prepare_next()
            time.sleep(TICK_SECONDS)

    def _restart(self, files: set[str]) -> None:
        folders = [self.options.own, CHECKOUT]
        paths = sorted(_relative(Path(file), [each for each in folders if each]) for file in files)
        names = ", ".join(paths[:3])
        print(f"{names} changed: starting the programs again …", flush=True)
        self._import_code()
        # The first of these get the processors first.
        programs = {program.name: program for program in sorted(self._programs_with(files), key=_urgency)}
        running = {process.name: process for process in self.processes}

        waiting = {name for name in programs if name not in running}

        def note_end(stopped: Process) -> None:
            self.processes.remove(stopped)
            waiting.add(stopped.name)

        def start_waiting() -> None:
            # Which one ends first must not decide which one gets the processors first.
            self._start_programs([program for name, program in programs.items() if name in waiting])
            waiting.clear()

        def pause() -> None:
            self._show_and_sleep()
            if self._has_imported_code():
                start_waiting()

        stop([running[name] for name in programs if name in running], pause, note_end)
        start_waiting()
        self.restarted_at = time.monotonic()

    def _programs_with(self, files: set[str]) -> list[Program]:
        """The programs that import one of these files: those of one's own are imported by workers only."""
        own = self.options.own
        if own is None or not all(Path(file).is_relative_to(own) for file in files):
            return self.programs
        return [program for program in self.programs if program.is_own or program.node]

    def _import_code(self) -> None:
        """A single program, too, starts sooner after a change where all the rest is imported already."""
        self._start_fork_servers()

    def _has_imported_code(self) -> bool:
        return self.fork_servers is not None and self.fork_servers.current.has_answered()

    def stop(self) -> list[str]:
        self.watcher.stop()
        return super().stop()


def _urgency(program: Program) -> int:
    """What one waits for after a change comes first."""
    if program.is_own or program.name in ("web", "worker"):
        return 0
    return 1 if program.node else 2


def _relative(file: Path, folders: list[Path]) -> str:
    """The path in the first of these folders that has it."""
    return next((str(file.relative_to(each)) for each in folders if file.is_relative_to(each)), str(file))
