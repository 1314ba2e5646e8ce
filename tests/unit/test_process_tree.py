"""Process trees of real processes, some of which resist."""

import os
import shlex
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from jobs.subprocesses import process_tree
from jobs.subprocesses.process_tree import _parse, kill_tree, kill_trees, tree
from tests.unit.process_tools import PATIENCE, eventually, is_alive, processes_with_mark

NAP = 300


def napper(mark):
    return f"{sys.executable} -c 'import time; time.sleep({NAP})' {mark}"


def naps(pid):
    with suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(sys.executable.encode())
    return False


@contextmanager
def started(script, mark, *, expected, **options):
    """Starts a shell with this script, and waits for so many processes."""
    process = subprocess.Popen(["sh", "-c", f": {mark}; {script}"], **options)
    try:
        assert eventually(lambda: len(processes_with_mark(mark)) == expected), processes_with_mark(mark)
        yield process
    finally:
        process.kill()
        process.wait()


def stubborn(mark):
    return f"trap '' TERM INT HUP; {napper(mark)}"


def test_a_process_and_its_descendants_are_killed(mark):
    script = f"sh -c {shlex.quote(f'{napper(mark)} & wait')} & wait"
    with started(script, mark, expected=3) as process:
        signalled = kill_tree(process.pid)
        assert process.wait(PATIENCE) == -signal.SIGKILL
        assert len(signalled) == 3
        assert eventually(lambda: not processes_with_mark(mark))


def test_several_processes_are_killed_with_their_descendants(mark):
    with (
        started(f"{napper(mark)} & wait", mark, expected=2) as first,
        started(f"setsid sh -c {shlex.quote(f'{napper(mark)} & wait')} & wait", mark, expected=5) as second,
    ):
        assert len(kill_trees({first.pid, second.pid})) == 5
        assert eventually(lambda: not processes_with_mark(mark))


def test_a_process_in_its_own_session_that_ignores_signals_is_killed_too(mark):
    script = f"setsid sh -c {shlex.quote(f': {mark}; {stubborn(mark)} & wait')} & wait"
    with started(script, mark, expected=3) as process:
        kill_tree(process.pid)
        assert eventually(lambda: not processes_with_mark(mark))


def test_an_orphan_that_stayed_in_the_group_is_killed_too(mark):
    # The subshell is gone, so the napper's parent is not in the tree; its group is.
    script = f"({napper(mark)} &) ; {napper(mark)} & wait"
    with started(script, mark, expected=3, start_new_session=True) as process:
        kill_tree(process.pid)
        assert eventually(lambda: not processes_with_mark(mark))


def test_a_process_group_whose_leader_is_gone_is_still_found(mark):
    with started(f"{napper(mark)} & exit", mark, expected=1, start_new_session=True) as process:
        process.wait()
        kill_tree(process.pid)
        assert eventually(lambda: not processes_with_mark(mark))


def test_the_callers_own_group_lives_on(mark):
    with started(f"{napper(mark)} & wait", mark, expected=2) as victim:
        neighbour = subprocess.Popen(shlex.split(napper(mark)))
        try:
            assert os.getpgid(victim.pid) == os.getpgid(neighbour.pid) == os.getpgrp()
            kill_tree(victim.pid)
            assert eventually(lambda: processes_with_mark(mark) == {neighbour.pid})
            assert neighbour.poll() is None
        finally:
            neighbour.kill()
            neighbour.wait()


def test_a_group_led_from_outside_the_tree_lives_on(mark):
    # Like a pool process in its worker's group, killed by another process.
    script = f"{napper(mark)} & echo $!; wait"
    options = {"start_new_session": True, "stdout": subprocess.PIPE, "text": True}
    with started(script, mark, expected=2, **options) as leader:
        member = int(leader.stdout.readline())
        assert os.getpgid(member) == leader.pid
        assert kill_tree(member) == {member}
        assert eventually(lambda: not is_alive(member))
        leader.stdout.close()


def test_a_group_whose_leader_is_gone_lives_on_when_the_process_was_born_in_it(mark):
    # Like a pool process whose worker has died, with another process in the same group.
    inner = f": {mark}; {napper(mark)} & wait"
    script = f"sh -c {shlex.quote(inner)} & echo $!; {napper(mark)} &"
    options = {"start_new_session": True, "stdout": subprocess.PIPE, "text": True}
    with started(script, mark, expected=3, **options) as leader:
        member = int(leader.stdout.readline())
        leader.wait()
        # The leader may have been one of the three that were expected.
        assert eventually(lambda: len(processes_with_mark(mark)) == 3)
        assert len(kill_tree(member)) == 2
        assert eventually(lambda: len(processes_with_mark(mark)) == 1)
        leader.stdout.close()


def test_an_orphan_in_a_group_of_its_own_is_found_by_its_session(mark):
    orphan = "import os, time; os.fork() and os._exit(0); os.setpgid(0, 0); time.sleep(300)"
    script = f"{sys.executable} -c {shlex.quote(orphan)} {mark}; {napper(mark)} & wait"
    with started(script, mark, expected=3, start_new_session=True) as process:
        kill_tree(process.pid)
        assert eventually(lambda: not processes_with_mark(mark))


FORKS_WHEN_ASKED = """
import os, signal, time
def fork(number, frame):
    if os.fork() == 0:
        os.setsid()
        print("forked", flush=True)
        time.sleep(300)
signal.signal(signal.SIGUSR1, fork)
print("ready", flush=True)
while True:
    signal.pause()
"""


def test_a_child_that_is_born_after_the_first_round_is_killed_too(mark, monkeypatch):
    argv = [sys.executable, "-c", FORKS_WHEN_ASKED, mark]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = process.stdout
        assert lines.readline() == "ready\n"
        send = process_tree._send

        def fork_first(pid, sig):
            monkeypatch.setattr(process_tree, "_send", send)
            process.send_signal(signal.SIGUSR1)
            assert lines.readline() == "forked\n"
            return send(pid, sig)

        monkeypatch.setattr(process_tree, "_send", fork_first)
        assert len(kill_tree(process.pid)) == 2
    assert eventually(lambda: not processes_with_mark(mark))


MOVER = """
import os, sys, time
ends = time.monotonic() + 120
while time.monotonic() < ends:
    if os.fork():
        os._exit(0)
    os.setsid()
    os.write(1, b".")
    time.sleep(0.002)
"""
# A process that moves from orphan to orphan stays in the tree only below a subreaper.
REAPER = """
import ctypes, signal, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", *sys.argv[1:]])
time.sleep(300)
"""


def test_a_process_that_forks_and_exits_all_the_time_does_not_escape(mark):
    # Too fast to be seen from outside, but it holds the pipe open as long as it lives.
    reading, writing = os.pipe()
    process = subprocess.Popen([sys.executable, "-c", REAPER, MOVER, mark], stdout=writing)
    os.close(writing)
    with os.fdopen(reading, "rb", buffering=0) as moves:
        try:
            assert moves.read(1) == b"."
            kill_tree(process.pid)
            os.set_blocking(reading, False)
            assert eventually(lambda: moves.read(1_000) == b"")
        finally:
            process.kill()
            process.wait()


def test_another_signal_is_sent_without_stopping_the_processes(mark):
    # The shell may learn of its child's end before its own signal arrives, and continues until then.
    script = f"trap 'exit 7' TERM; {napper(mark)} & while true; do sleep 0.05; done"
    with started(script, mark, expected=2) as process:
        # Until exec it is a copy of the shell, which would catch the signal and ignore it.
        assert eventually(lambda: any(map(naps, processes_with_mark(mark))))
        kill_tree(process.pid, signal.SIGTERM)
        assert process.wait(PATIENCE) == 7
        assert eventually(lambda: not processes_with_mark(mark))


def test_a_stopped_process_is_killed(mark):
    with started(f"exec {napper(mark)}", mark, expected=1) as process:
        os.kill(process.pid, signal.SIGSTOP)
        kill_tree(process.pid)
        assert process.wait(PATIENCE) == -signal.SIGKILL


def test_a_process_that_kills_its_own_tree_lives_on_without_its_children(mark):
    code = (
        "import os, subprocess, sys\n"
        "from jobs.subprocesses.process_tree import kill_tree\n"
        "child = subprocess.Popen(['sh', '-c', sys.argv[1]])\n"
        "assert kill_tree(os.getpid()) == {child.pid}\n"
        "print(child.wait())\n"
    )
    argv = [sys.executable, "-c", code, f"exec {napper(mark)}"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (0, "-9\n"), done.stderr


def test_a_process_that_is_gone_is_no_error():
    process = subprocess.Popen(["true"])
    process.wait()
    assert kill_tree(process.pid) == set()


@pytest.mark.parametrize("pid", [1, 0, -1, -2])
def test_a_pid_that_means_many_processes_is_refused(pid):
    with pytest.raises(ValueError, match="not name a single process"):
        kill_tree(pid)


def test_the_caller_is_never_in_the_tree():
    assert os.getpid() not in tree(os.getppid())


def test_a_command_name_with_parentheses_and_spaces_is_parsed():
    process = _parse(b"12 (a) R 1 1 (b) S 5 6 7 8 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 99")
    assert process == (12, 5, 6, 7, False, 4711)
