"""Two processes that watch each other, so that nothing stays behind whichever of them is killed.

The outer one is what make started. It does nothing but pass signals on and wait. When the inner one, the
runner, is killed without a word, the outer one inherits all that ran and ends it. When the outer one is
killed, the runner is told and stops everything in order.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from config.embedded import interruption, kernel
from config.up import orphans

# What the kernel has told the servers when the runner died needs a moment to be done.
SERVERS_PATIENCE = 5.0


def guarded(run: Callable[[], int]) -> int:
    """Runs it in a child and answers its exit code."""
    kernel.adopt_orphans()
    kernel.die_with_make()
    us = os.getpid()
    signal.pthread_sigmask(signal.SIG_BLOCK, interruption.STOP_SIGNALS)
    runner = os.fork()
    if runner == 0:
        kernel.die_with_parent(us, signal.SIGTERM)
        interruption.listen()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, interruption.STOP_SIGNALS)
        _run_and_exit(run)
    for number in interruption.STOP_SIGNALS:
        signal.signal(number, lambda number, frame: _pass_on(runner, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, interruption.STOP_SIGNALS)
    code = os.waitstatus_to_exitcode(os.waitpid(runner, 0)[1])
    if code >= 0:
        return code
    print(f"The runner was ended by signal {-code}: ending what it had started.", file=sys.stderr)
    _wait_for_orphans()
    orphans.end(spared=())
    return 1


def _run_and_exit(run: Callable[[], int]) -> None:
    code = 1
    try:
        code = run()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        # Not sys.exit: what the outer process was in the middle of is not ours to finish.
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(code)


def _pass_on(runner: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(runner, number)


def _wait_for_orphans() -> None:
    deadline = time.monotonic() + SERVERS_PATIENCE
    while orphans.living() and time.monotonic() < deadline:
        orphans.bury(known=())
        time.sleep(0.05)
