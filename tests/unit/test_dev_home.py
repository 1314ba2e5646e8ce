"""DURE_HOME: writable, for one system at a time, and its secrets for its owner only."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from config.dev import CannotStart, Servers, running_servers
from config.dev.home import (
    FREE_BYTES_NEEDED,
    check_free_space,
    not_writable,
    open_home,
    read_json,
    write_private_json,
)
from tests.unit.dev_checkout import CHECKOUT
from tests.unit.process_tools import PATIENCE, eventually


def test_a_folder_that_cannot_be_created_is_named_in_one_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CannotStart) as refused:
        open_home(tmp_path / "file" / "home")
    assert f"DURE_HOME ({tmp_path}/file/home) cannot be written: Not a directory." in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_folder_of_another_user_is_refused(tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o500)
    # Root may write everywhere. The imports come first: another user need not be able to read them.
    script = (
        "import os, sys, pathlib; from config.dev import home; "
        "os.geteuid() == 0 and os.seteuid(65534); home.open_home(pathlib.Path(sys.argv[1]))"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "theirs" / "home")]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert "cannot be written: Permission denied." in done.stderr


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_fills_up_is_called_full(tmp_path, number):
    assert "is full" in not_writable(tmp_path, OSError(number, os.strerror(number)))


def test_a_nearly_full_disk_is_refused_with_the_free_and_the_needed_space(tmp_path):
    check_free_space(tmp_path, FREE_BYTES_NEEDED)
    with pytest.raises(CannotStart, match="3 MiB are free there and 200 MiB are needed"):
        check_free_space(tmp_path, 3 * 2**20)


def test_a_home_in_use_is_refused_until_it_is_closed(tmp_path):
    first = open_home(tmp_path)
    with pytest.raises(CannotStart, match=rf"already running in .* \(process {os.getpid()}\)"):
        open_home(tmp_path)
    first.close()
    open_home(tmp_path).close()


# The latter is that of a start which did not run itself while the time passed.
@pytest.mark.parametrize("grace", [0.2, -5.0])
def test_processes_of_a_killed_runner_are_killed_before_the_next_start(tmp_path, monkeypatch, grace):
    monkeypatch.setattr("config.dev.home.GRACE_SECONDS", grace)
    dead = subprocess.Popen(["true"])
    dead.wait()
    with (tmp_path / "lock").open("w") as lock:
        holder = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import fcntl, sys, time; fcntl.flock(int(sys.argv[1]), 2); time.sleep(600)",
                str(lock.fileno()),
            ],
            pass_fds=[lock.fileno()],
            start_new_session=True,
        )
        lock.write(f"{dead.pid}\n{holder.pid}\n")
    assert eventually(lambda: _is_locked(tmp_path / "lock"))
    open_home(tmp_path).close()
    # The lock is free a moment before the process has ended.
    assert holder.wait(PATIENCE) == -signal.SIGKILL


def _is_locked(path: Path) -> bool:
    return subprocess.run(["flock", "--nonblock", str(path), "true"], check=False).returncode != 0


def test_the_urls_of_the_servers_are_published_until_the_home_is_closed(tmp_path):
    assert running_servers(tmp_path) is None
    home = open_home(tmp_path)
    home.publish(Servers("postgresql://a", "redis://b"))
    assert running_servers(tmp_path) == Servers("postgresql://a", "redis://b")
    assert stat.S_IMODE((tmp_path / "embedded.json").stat().st_mode) == 0o600
    home.close()
    assert running_servers(tmp_path) is None


def test_a_private_file_is_replaced_whole_and_stays_private(tmp_path):
    path = tmp_path / "secret.json"
    path.write_text("old")
    path.chmod(0o644)
    write_private_json(path, {"password": "가나다"})
    assert json.loads(path.read_text()) == {"password": "가나다"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["secret.json"]


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "secrets.json").write_text('{"half":')
    with pytest.raises(CannotStart, match=r"secrets\.json is damaged"):
        read_json(tmp_path / "secrets.json")
