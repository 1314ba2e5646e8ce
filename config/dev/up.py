"""`make up`: starts the servers and the programs of the Procfile, shows their output, and stops them."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config.dev import CannotStart, credentials, own_repository, procfile
from config.dev import options as preflight
from config.dev.home import Home, is_running, open_home
from config.dev.options import CHECKOUT, Options
from config.dev.process import Interrupted, listen_for_signals
from config.dev.procfile import RELEASE, Program
from config.dev.screen import error, report
from config.dev.system import Ended, System
from jobs.subprocesses import linux


def main() -> int:
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    listen_for_signals()
    end_with_make()
    try:
        return up()
    except (CannotStart, ImproperlyConfigured) as reason:
        error(f"Cannot start: {reason}")
    except Interrupted:
        pass
    except OSError as failure:
        error(f"Cannot go on: {failure}.")
    return 1


def up() -> int:
    requested = preflight.read()
    system, start = prepare(requested)
    with stop_on_exit(system):
        try:
            start()
            system.watch()
        except Interrupted as interruption:
            print(f"\n{interruption}: stopping everything … (again: kill instead of waiting)", flush=True)
            return 0
        except Ended as end:
            report(end.process)
            error("Stopping everything; a process that ends is not restarted.")
        except CannotStart as reason:
            error(f"Cannot start: {reason}")
    return 1


def prepare(requested: Options) -> tuple[System, Callable[[], None]]:
    """What is to run, and how it starts: a system, or one's own programs beside the one that runs already."""
    own = own_repository.programs(requested.own) if requested.own else []
    if requested.own and requested.only_own:
        preflight.check_elsewhere(requested, own)
        system = system_of(open_home(requested.home / "own" / requested.own.name), requested, own)
        return system, system.start_for_another
    if requested.own and is_running(requested.home):
        if not own:
            raise CannotStart(
                f"Dure runs in {requested.home} already, and {requested.own} has no Procfile whose programs "
                "could run beside it."
            )
        system = system_of(open_home(requested.home / "own" / requested.own.name), requested, own)
        return system, system.start_beside
    programs = procfile.read(CHECKOUT / "Procfile")
    release = programs.pop(RELEASE, None)
    home = open_home(requested.home)
    preflight.check_ports(requested)
    credentials.remove(home)
    system = system_of(home, requested, [*programs.values(), *own])
    return system, lambda: system.start(release)


def system_of(home: Home, requested: Options, programs: list[Program]) -> System:
    if not requested.reloads:
        return System(home, requested, programs)
    from config.dev.reloading_system import ReloadingSystem

    return ReloadingSystem(home, requested, programs)


@contextmanager
def stop_on_exit(system: System) -> Iterator[System]:
    try:
        yield system
    finally:
        if killed := system.stop():
            error(f"{', '.join(killed)} did not stop in time and had to be killed.")
        print("Everything is stopped.", flush=True)


def end_with_make() -> None:
    """When make is killed, we stop everything as after SIGTERM."""
    parent = os.getppid()
    name = Path(f"/proc/{parent}/comm")
    if name.exists() and name.read_text().strip() in ("make", "gmake"):
        linux.die_with_parent(parent, signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
