"""A process that has imported the code once, and forks the programs of `make up`. Run by path.

Importing is most of what a program does at its start, and it is the same in each. In `make dev` a new process
of this kind imports the new code after a saved change, and the programs are forked from it. Until then it
waits, with the packages that no change concerns imported already: it must not import anything of the checkout
before.

It reads lines of JSON from a socket, and answers each with one; it also writes the ends of its children.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGES = {path.parent.name for path in CHECKOUT.glob("*/__init__.py")} | {"dure", "__main__", "__mp_main__"}


# What programs import besides when they start.
PROGRAMS = (
    "celery.bin.celery",
    "celery.apps.worker",
    "celery.apps.beat",
    "celery.worker.consumer",
    "billiard.pool",
    "celery.concurrency.prefork",
    "kombu.transport.redis",
    "uvicorn",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
    "flower.command",
)


class CheckoutBlocker:
    """Lets nothing of the checkout be imported."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name.partition(".")[0] in PACKAGES:
            raise ImportError(name)


class InChildProcess(Exception):
    """Leaves the loop in a forked process, which then runs a program with these arguments."""

    def __init__(self, arguments: list[str]) -> None:
        super().__init__(*arguments)
        self.arguments = arguments


class Server:
    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.rest = b""
        self.children: set[int] = set()
        self.wakeup, write = os.pipe()
        os.set_blocking(self.wakeup, False)
        os.set_blocking(write, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Until the other side closes the socket, and the last child has ended."""
        selector = selectors.DefaultSelector()
        selector.register(self.connection, selectors.EVENT_READ)
        selector.register(self.wakeup, selectors.EVENT_READ)
        is_open = True
        while is_open or self.children:
            for key, _ in selector.select():
                if key.fileobj is not self.connection:
                    with suppress(BlockingIOError):
                        os.read(self.wakeup, 4096)
                    self.report_ends()
                elif data := self.connection.recv(65_536):
                    self.read(data)
                else:
                    is_open = False
                    selector.unregister(self.connection)

    def read(self, data: bytes) -> None:
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            request = json.loads(line)
            self.answer(getattr(self, request.pop("do"))(**request))

    def answer(self, document: dict[str, Any]) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            self.connection.sendall(json.dumps(document).encode() + b"\n")

    def report_ends(self) -> None:
        while self.children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            self.children.discard(pid)
            self.answer({"ended": pid, "code": os.waitstatus_to_exitcode(status)})

    def prepare(self, modules: list[str]) -> dict[str, Any]:
        """Import what no change concerns. What needs the settings, which one may concern, is left out."""
        sys.meta_path.insert(0, CheckoutBlocker)
        for name in [*PROGRAMS, *modules]:
            with suppress(Exception):
                importlib.import_module(name)
        sys.meta_path.remove(CheckoutBlocker)
        return {"prepared": sorted(PACKAGES & sys.modules.keys())}

    def load(self) -> dict[str, Any]:
        """Import the code; answers what else was imported."""
        try:
            os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
            import django

            django.setup()
            import config.celery

            config.celery.app.finalize()
            # The Tasks, except those of DURE_WORKER_MODULES, which workers alone import.
            config.celery.app.loader.import_default_modules()
        except BaseException:
            return {"error": traceback.format_exc()}
        gc.collect()
        gc.freeze()  # the children share these objects' memory
        return {"modules": [name for name in sys.modules if name.partition(".")[0] not in PACKAGES]}

    def start(self, arguments: list[str], log: str) -> dict[str, Any]:
        sys.stdout.flush()
        parent = os.getpid()
        pid = os.fork()
        if pid:
            self.children.add(pid)
            return {"started": pid}
        self.connection.close()
        become_program(parent, log)
        raise InChildProcess(arguments)


def become_program(parent: int, log: str) -> None:
    """What Popen and `prepare` of process.py do for a program that is executed."""
    from jobs.subprocesses import linux

    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    linux.die_with_parent(parent)
    with suppress(OSError):  # the name that `top` shows on Linux
        Path("/proc/self/comm").write_text(Path(log).stem)
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for number in (1, 2):
        os.dup2(file, number)
    os.close(file)


def run(arguments: list[str]) -> None:
    """`celery …`, `python -m module …` or `python file …`, in this process."""
    match arguments:
        case ["celery", *_]:
            from celery.__main__ import main

            sys.argv = [str(Path(sys.executable).with_name("celery")), *arguments[1:]]
            sys.exit(main())
        case ["python", "-m", module, *_]:
            sys.argv = [module, *arguments[3:]]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["python", file, *_]:
            sys.argv = arguments[1:]
            sys.path.insert(0, str(Path(file).resolve().parent))
            runpy.run_path(file, run_name="__main__")


def main() -> None:
    # Not the folder of this file, whose modules could hide others.
    sys.path[0] = str(CHECKOUT)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        Server(socket.socket(fileno=int(sys.argv[1]))).serve()
    except InChildProcess as program:
        arguments = program.arguments
    else:
        return
    try:
        run(arguments)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()  # as at the end of a program that was executed
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # to free all memory piece by piece would take a while


if __name__ == "__main__":
    main()
