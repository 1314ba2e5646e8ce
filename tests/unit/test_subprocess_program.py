"""Real programs in real sessions, which leave nothing behind."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jobs.subprocesses import tempdirs
from jobs.subprocesses.program import NotStarted, Program
from tests.unit.process_tools import PATIENCE, eventually, is_alive, processes_with_mark

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def program(script, environment=ENVIRONMENT):
    return Program(["/bin/sh", "-c", script], environment)


def run(script):
    with program(script) as running:
        output = b"".join(running.output())
    return running.exit_code, output


def napper(mark):
    return f"{sys.executable} -c 'import time; time.sleep(300)' {mark}"


def python(code, mark):
    return f"{sys.executable} -c {shlex.quote(code)} {mark}"


def test_output_and_errors_come_together_with_the_exit_code():
    assert run("echo one; echo two >&2; exit 3") == (3, b"one\ntwo\n")


def test_a_signal_that_ends_the_program_is_a_negative_exit_code():
    assert run("kill -KILL $$") == (-signal.SIGKILL, b"")


def test_output_arrives_while_the_program_runs():
    with program("echo first; read line; echo never") as running:
        # Standard input is empty, so the read ends: what matters is that the first line came alone.
        assert next(piece for piece in running.output() if piece).startswith(b"first\n")


def test_large_output_arrives_whole():
    code, output = run("head -c 3000000 /dev/zero")
    assert (code, len(output)) == (0, 3_000_000)


def test_output_ticks_while_the_program_is_silent():
    with program("sleep 300") as running:
        assert next(running.output(tick=0.05)) == b""


def test_standard_input_is_empty():
    assert run("cat") == (0, b"")


def test_a_file_that_is_not_executable_is_not_started():
    with (
        pytest.raises(NotStarted, match="Permission denied"),
        Program(["/etc/passwd"], ENVIRONMENT) as running,
    ):
        list(running.output())


def test_the_program_leads_a_group_in_the_named_session():
    with program("ps -o pid=,pgid=,sid= -p $$") as running:
        pid, group, sid = b"".join(running.output()).split()
    assert pid == group
    assert running.session_name.endswith(f"-{sid.decode()}")
    assert int(sid) != os.getsid(0)


def test_the_limits_are_set_and_privileges_cannot_grow():
    _, output = run("ulimit -c; ulimit -f; ulimit -n; umask; grep NoNewPrivs /proc/self/status")
    core, blocks, files, umask, _, no_new = output.decode().split()
    assert (core, files, umask, no_new) == ("0", "1024", "0077", "1")
    assert int(blocks) * 512 == 2**30


def test_the_program_receives_every_signal_even_when_the_worker_ignores_some():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN), signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
    try:
        with Program(["/bin/grep", "-E", "SigIgn|SigBlk", "/proc/self/status"], ENVIRONMENT) as running:
            output = b"".join(running.output())
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR2])
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])
    # The C library reserves two signals, which stay as the system has them.
    own = 0b11 << 31
    assert [int(line.split()[1], 16) & ~own for line in output.splitlines()] == [0, 0]


def test_the_program_inherits_no_descriptor():
    secret = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(secret, True)
    try:
        _, output = run("ls -l /proc/$$/fd")
    finally:
        os.close(secret)
    descriptors = {line.split()[-3] for line in output.decode().splitlines() if "->" in line}
    assert descriptors <= {"0", "1", "2", "10"}  # at most the shell's own copy


def test_the_private_folder_is_home_and_removed_afterwards(tmp_path):
    script = "pwd; echo $HOME; stat -c %a .; mkdir -p a/b; touch a/b/c; chmod 500 a/b; chmod 000 a"
    _, output = run(script)
    where, home, mode = output.decode().split()
    assert where == home
    assert mode == "700"
    assert Path(home).parent == tmp_path
    assert not Path(home).exists()


def test_background_processes_end_with_the_program(mark):
    script = f"({napper(mark)} &); setsid -f {napper(mark)}; nohup {napper(mark)} & sleep 0.3"
    assert run(script)[0] == 0
    assert processes_with_mark(mark) == set()


def test_leaving_the_block_terminates_the_program_and_lets_it_clean_up(tmp_path, monkeypatch, settings):
    # A busy machine may take longer than the grace to run what the program does at its end.
    monkeypatch.setattr("jobs.subprocesses.program.MAX_GRACE_SECONDS", PATIENCE)
    settings.DURE_GRACE_SECONDS = 2 * PATIENCE
    tidy = tmp_path / "tidy"
    with program(f"trap 'echo done > {tidy}; exit' TERM; echo ready; sleep 300 & wait") as running:
        next(piece for piece in running.output() if piece)
    assert tidy.read_text() == "done\n"


def test_what_a_program_starts_while_it_is_terminated_may_clean_up_too(tmp_path, monkeypatch, settings):
    monkeypatch.setattr("jobs.subprocesses.program.MAX_GRACE_SECONDS", PATIENCE)
    settings.DURE_GRACE_SECONDS = 2 * PATIENCE
    begun, tidy, late = tmp_path / "begun", tmp_path / "tidy", tmp_path / "late"
    late.write_text(f"trap 'echo done > {tidy}; exit' TERM; touch {begun}; sleep 300 & wait")
    at_end = f"sh {late} & until [ -e {begun} ]; do sleep 0.01; done; exit"
    with program(f"trap '{at_end}' TERM; echo ready; sleep 300 & wait") as running:
        next(piece for piece in running.output() if piece)
    assert tidy.read_text() == "done\n"


class Interrupted(Exception):
    pass


IGNORING = """
import signal, time
for number in (1, 2, 15):
    signal.signal(number, signal.SIG_IGN)
print(1, flush=True)
time.sleep(300)
"""
DAEMON = (
    """
import os
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.environ.clear()
"""
    + IGNORING
)


def test_processes_that_ignore_signals_move_or_daemonize_end_after_an_interruption(mark):
    ignoring, daemon = python(IGNORING, mark), python(DAEMON, mark)
    nested = f"setsid sh -c {shlex.quote(f': {mark}; {ignoring} & {daemon} & wait')}"
    moved = f"setsid {ignoring} & {daemon} & env -i setsid -f {ignoring} & ({nested} &)"
    script = f"trap '' TERM; {moved} & {ignoring}"
    with pytest.raises(Interrupted), program(script) as running:
        ready = b""
        for piece in running.output():
            ready += piece
            if ready.count(b"1\n") == 6:
                raise Interrupted
    assert processes_with_mark(mark) == set()


MOVER = """
import os, sys
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
    os.write(1, b".")
"""


def test_a_process_that_forks_and_exits_as_fast_as_it_can_does_not_escape(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        code = "import sys; exec(sys.argv[1])"
        with program(f"{sys.executable} -c '{code}' {shlex.quote(MOVER)} > {pipe}; sleep 300"):
            assert eventually(lambda: _moves(reader))
        # No process has it open for writing: the end of the file, not just nothing to read.
        assert eventually(lambda: _ended(reader))
    finally:
        os.close(reader)


def _moves(reader):
    try:
        return len(os.read(reader, 100)) > 3
    except BlockingIOError:
        return False


def _ended(reader):
    try:
        return os.read(reader, 65_536) == b""
    except BlockingIOError:
        return False


WORKER = """
import sys
from jobs.subprocesses.program import Program
with Program(["/bin/sh", "-c", sys.argv[1]], {"PATH": "/usr/bin:/bin"}) as running:
    for piece in running.output():
        print(piece.decode(), end="", flush=True)
"""


def worker(script, tmp_path):
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "TMPDIR": str(tmp_path)}
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, script], stdout=subprocess.PIPE, text=True, env=environment
    )


def test_a_killed_workers_program_ends_with_everything_it_started(mark, tmp_path):
    script = f"setsid {python(IGNORING, mark)} & {python(DAEMON, mark)} & wait; sleep 300 # {mark}"
    process = worker(script, tmp_path)
    assert [process.stdout.readline() for _ in range(2)] == ["1\n", "1\n"]
    process.kill()
    process.wait()
    process.stdout.close()
    assert eventually(lambda: not processes_with_mark(mark)), processes_with_mark(mark)


def test_a_killed_guards_program_dies_and_the_run_notices():
    with program("echo $$; exec sleep 300") as running:
        output = running.output()
        pid = int(next(piece for piece in output if piece))
        os.kill(int(running.session_name.rpartition("-")[2]), signal.SIGKILL)
        list(output)
    assert running.exit_code == -signal.SIGKILL
    assert eventually(lambda: not is_alive(pid))


def test_a_guard_that_hangs_is_killed(mark, monkeypatch):
    monkeypatch.setattr("jobs.subprocesses.program.EXIT_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr("jobs.subprocesses.program.MAX_GRACE_SECONDS", 0.1)
    with program(f"echo ready; {napper(mark)}") as running:
        next(piece for piece in running.output() if piece)
        os.kill(int(running.session_name.rpartition("-")[2]), signal.SIGSTOP)
    assert eventually(lambda: not processes_with_mark(mark))


def test_a_killed_runs_folder_is_removed_later_and_a_folder_in_use_is_not(tmp_path):
    with tempdirs.private_home() as (home, _):
        left_behind = tmp_path / f"{tempdirs.PREFIX}dead"
        left_behind.mkdir()
        tempdirs.sweep(tmp_path, time.time())
        assert left_behind.exists()  # too young
        tempdirs.sweep(tmp_path, time.time() + tempdirs.MIN_AGE_SECONDS + 1)
        assert not left_behind.exists()
        assert home.exists()


def test_a_link_in_a_folder_or_in_its_place_is_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir(mode=0o500)
    (tmp_path / f"{tempdirs.PREFIX}trap").symlink_to(precious)
    home = tmp_path / f"{tempdirs.PREFIX}dead"
    home.mkdir()
    (home / "link").symlink_to(precious)
    tempdirs.sweep(tmp_path, time.time() + tempdirs.MIN_AGE_SECONDS + 1)
    assert not home.exists()
    assert precious.stat().st_mode & 0o777 == 0o500
