"""DURE_HOME: usable, for one system at a time, and its secrets for its owner only."""

import errno
import json
import os
import stat
from pathlib import Path

import pytest

from config import embedded
from config.embedded import CannotStart, Servers, private
from config.embedded.account import Account
from config.embedded.home import FREE_BYTES_NEEDED, open_home, read_json, too_full, unusable


def test_a_folder_that_cannot_be_made_is_refused_in_one_line_that_names_it(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CannotStart) as refused:
        open_home(tmp_path / "file" / "home")
    assert f"DURE_HOME ({tmp_path}/file/home) cannot be written: Not a directory." in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_folder_of_somebody_else_is_refused(tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o500)
    assert "cannot be written: Permission denied." in refusal_to_an_ordinary_user(
        tmp_path / "theirs" / "home"
    )


def refusal_to_an_ordinary_user(path: Path) -> str:
    """Root may write everywhere, so it asks as somebody else, in a process that it gives away for that."""
    read_end, write_end = os.pipe()
    asker = os.fork()
    if asker == 0:
        try:
            if os.geteuid() == 0:
                Account("nobody", 65534, 65534).become()
            open_home(path)
        except CannotStart as refused:
            os.write(write_end, str(refused).encode())
        finally:
            os._exit(0)
    os.close(write_end)
    os.waitpid(asker, 0)
    with os.fdopen(read_end) as answer:
        return answer.read()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_fills_up_while_we_write_is_called_full(tmp_path, number):
    assert "is full" in unusable(tmp_path, OSError(number, os.strerror(number)))


def test_a_disk_with_too_little_room_is_refused_with_what_is_there_and_what_is_needed(tmp_path):
    complaint = too_full(tmp_path, 3 * 2**20)
    assert "3 MiB are free there and 200 MiB are needed" in complaint
    assert too_full(tmp_path, FREE_BYTES_NEEDED) == ""


def test_a_home_in_use_is_refused_and_its_user_named_until_it_is_given_back(tmp_path):
    first = open_home(tmp_path)
    with pytest.raises(CannotStart, match=rf"already running in .* \(process {os.getpid()}\)"):
        open_home(tmp_path)
    first.close()
    open_home(tmp_path).close()


def test_the_urls_of_the_servers_are_there_while_they_run_and_for_the_owner_only(tmp_path):
    assert embedded.urls(tmp_path) is None
    home = open_home(tmp_path)
    home.publish(Servers("postgresql://a", "redis://b"))
    assert embedded.urls(tmp_path) == Servers("postgresql://a", "redis://b")
    assert stat.S_IMODE((tmp_path / "embedded.json").stat().st_mode) == 0o600
    home.withdraw()
    assert embedded.urls(tmp_path) is None
    home.close()


def test_a_private_file_is_replaced_whole_and_stays_private(tmp_path):
    path = tmp_path / "secret.json"
    path.write_text("old")
    path.chmod(0o644)
    private.write_json(path, {"password": "가나다"})
    assert json.loads(path.read_text()) == {"password": "가나다"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["secret.json"]


def test_a_damaged_file_is_named_and_not_taken_for_an_empty_one(tmp_path):
    (tmp_path / "secrets.json").write_text('{"half":')
    with pytest.raises(CannotStart, match=r"secrets\.json is damaged"):
        read_json(tmp_path / "secrets.json")
