"""The foreground runner: what it shows, what it writes down, and that nothing stays behind."""

import json
import os
import pty
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from config.up import orphans
from config.up.output import Screen, Voice
from config.up.runner import STOP_SECONDS
from tests.unit.process_tools import eventually
from tests.unit.up_checkout import Checkout

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux's /proc")
TALKER = """
import time
for n in range(10**6):
    print("line", n, flush=True)
    time.sleep(0.05)
"""
DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(300)
"""
FALLING = """
import sys
print("one last thing")
sys.exit("the roof is on fire")
"""
SLOW = """
import time
time.sleep(300)
"""
# Writes down what it was given.
CURIOUS = """
import json, os, time
json.dump(dict(os.environ), open("seen", "w"))
print("seen", flush=True)
time.sleep(300)
"""
# Leaves a process in a session of its own, whose parent has gone: nothing ties it to us any more.
LEAVING = """
import subprocess, sys, time
run = [sys.executable, "-c", "import time; time.sleep(300)", __file__]
subprocess.run(["sh", "-c", 'setsid "$@" & exit 0', "sh", *run])
print("left", flush=True)
time.sleep(300)
"""
NEVER_READY = """
import http.server, sys
class Web(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(503, "no migrations")
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Web).serve_forever()
"""


@pytest.fixture
def checkout(tmp_path):
    made = Checkout(tmp_path)
    yield made
    assert made.alive() == set()


def started(checkout, **scripts):
    web = checkout.script("web", (checkout.path / "web.py").read_text()) + " $PORT"
    checkout.programs(web=web, **{name: checkout.script(name, text) for name, text in scripts.items()})
    return checkout.start()


def test_the_steps_the_box_and_the_programs_lines_are_shown_in_turn(checkout):
    up = started(checkout, talker=TALKER).wait_until_up().wait_for("line 30")
    assert up.stop() == 0
    numbers = re.findall(r"^\[(\d)/7\] .* ✓ \d+\.\d s$", up.output, re.MULTILINE)
    assert numbers == ["3", "4", "5", "6", "7"]
    user = up.credentials()["users"][1]
    for shown in ("/admin/", "/api/docs", user["username"], user["password"], user["token"]):
        assert shown in up.output
    assert "\ntalker | line 30\n" in up.output
    assert "\033" not in up.output, "no colours where it is not a terminal"
    assert "\nSIGTERM: stopping everything …" in up.output
    assert up.output.endswith("\nEverything is stopped.\n")


def test_each_programs_lines_are_in_a_log_of_their_own_for_the_owner_only(checkout):
    up = started(checkout, talker=TALKER).wait_until_up().wait_for("line 5")
    up.stop()
    log = checkout.home / "logs" / "talker.log"
    assert log.read_text().startswith("line 0\nline 1\n")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700


def test_the_credentials_are_written_for_the_owner_and_kept_over_a_new_start(checkout):
    up = started(checkout).wait_until_up()
    first = up.credentials()
    assert stat.S_IMODE((checkout.home / "credentials.json").stat().st_mode) == 0o600
    assert set(first) == {"base_url", "redis_url", "cron_secret", "flower", "users", "office_id"}
    assert set(first["flower"]) == {"url", "user", "password"}
    assert [user["username"] for user in first["users"]] == ["admin", "alice", "bob"]
    assert all(set(user) == {"username", "password", "token", "role"} for user in first["users"])
    up.stop()
    again = started(checkout).wait_until_up()
    second = again.credentials()
    again.stop()
    assert second["users"] == first["users"]
    assert second["cron_secret"] == first["cron_secret"]


def test_secrets_reach_the_programs_by_the_environment_and_no_command_line_or_log(checkout):
    up = started(checkout, curious=CURIOUS).wait_until_up().wait_for("curious | seen")
    seen = json.loads((checkout.path / "seen").read_text())
    secrets = [seen["DURE_SECRET_KEY"], seen["CRON_SECRET"], seen["FLOWER_BASIC_AUTH"].partition(":")[2]]
    secrets += [user[what] for user in up.credentials()["users"] for what in ("password", "token")]
    assert "DURE_DEMO_USERS" not in seen
    commands = "".join(Path(f"/proc/{pid}/cmdline").read_text() for pid in checkout.alive())
    up.stop()
    logs = "".join(log.read_text() for log in (checkout.home / "logs").iterdir())
    assert not [secret for secret in secrets if secret in commands + logs]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_every_way_to_stop_it_stops_it_in_order(checkout, number):
    up = started(checkout, talker=TALKER).wait_until_up()
    assert up.stop(number) == 0
    assert f"{number.name}: stopping everything" in up.output


def test_a_stop_before_it_is_up_stops_it_as_well(checkout):
    checkout.programs(release=checkout.script("slow", SLOW), web="python web.py $PORT")
    up = checkout.start()
    assert eventually(lambda: (checkout.home / "logs" / "release.log").exists())
    assert up.stop() == 0
    assert "Everything is stopped." in up.output


def test_a_program_that_ends_by_itself_is_shown_and_takes_all_with_it(checkout):
    up = started(checkout, talker=TALKER, fallen=FALLING)
    assert up.process.wait(60) == 1
    assert "fallen ended by itself (exit code 1). Its last lines:" in up.output
    assert "    one last thing\n    the roof is on fire\n" in up.output
    assert str(checkout.home / "logs" / "fallen.log") in up.output
    assert "Everything is stopped." in up.output


def test_a_program_that_is_killed_is_reported_with_the_signal(checkout):
    up = started(checkout, talker=TALKER).wait_until_up()
    (talker,) = [pid for pid in checkout.alive() if "talker.py" in Path(f"/proc/{pid}/cmdline").read_text()]
    os.kill(talker, signal.SIGKILL)
    assert up.process.wait(60) == 1
    assert "talker ended by itself (signal 9)" in up.output


def test_asked_twice_it_kills_what_does_not_listen_and_says_so(checkout):
    up = started(checkout, deaf=DEAF).wait_until_up().wait_for("deaf | deaf")
    up.process.send_signal(signal.SIGTERM)
    up.wait_for("stopping everything")
    first = time.monotonic()
    # Two signals at once are one wish: Ctrl-C arrives from the terminal and from make.
    assert eventually(lambda: time.monotonic() - first > 0.6)
    assert up.stop() == 0
    assert time.monotonic() - first < STOP_SECONDS, "it waited instead"
    assert "deaf did not stop when asked, or not in time, and had to be killed." in up.output


def test_a_process_that_left_its_session_is_ended_with_the_rest(checkout):
    up = started(checkout, leaving=LEAVING).wait_until_up().wait_for("leaving | left")
    assert len(checkout.alive()) == 3
    assert up.stop() == 0


@on_linux
def test_when_the_runner_is_killed_without_a_word_nothing_stays_behind(checkout):
    up = started(checkout, leaving=LEAVING).wait_until_up().wait_for("leaving | left")
    os.kill(up.runner, signal.SIGKILL)
    assert up.process.wait(60) == 1
    assert "The runner was ended by signal 9: ending what it had started." in up.output


@on_linux
def test_when_the_process_that_make_started_is_killed_nothing_stays_behind(checkout):
    up = started(checkout, leaving=LEAVING).wait_until_up().wait_for("leaving | left")
    up.process.kill()
    up.process.wait()
    assert eventually(lambda: checkout.alive() == set(), 30)
    assert eventually(lambda: up.output.endswith("Everything is stopped.\n"))


def test_a_program_that_is_not_ready_in_time_is_told_of(checkout):
    config = checkout.path / "config" / "up" / "stack.py"
    config.write_text(config.read_text().replace("READY_SECONDS = 60.0", "READY_SECONDS = 1.0"))
    checkout.programs(web=checkout.script("silent", NEVER_READY) + " $PORT")
    done = checkout.run()
    assert done.returncode == 1
    assert "Cannot start: Not ready after 1 s. web: /readyz answers 503" in done.stderr


@pytest.mark.parametrize(("no_color", "expected"), [("", True), ("1", False)])
def test_in_a_terminal_each_program_has_its_colour_unless_that_is_not_wanted(checkout, no_color, expected):
    checkout.programs(fallen=checkout.script("fallen", FALLING))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "config.up"],
        cwd=checkout.path,
        env=checkout.environment(NO_COLOR=no_color),
        stdout=theirs,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
    )
    os.close(theirs)
    shown = read_all(ours)
    process.wait(60)
    assert ("\033[36mfallen | \033[0mone last thing" in shown) is expected
    assert ("fallen | one last thing" in shown) is not expected


def read_all(terminal: int) -> str:
    data = b""
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:  # how a terminal says that nobody is at its other end
            break
        if not piece:
            break
        data += piece
    os.close(terminal)
    return data.decode()


def test_a_reader_that_stands_still_holds_nothing_up_and_is_told_what_it_missed(tmp_path, monkeypatch):
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "w") as stalled:
        monkeypatch.setattr(sys, "stdout", stalled)
        voice = Voice("noisy", Screen(["noisy"]), tmp_path / "noisy.log")
        for _ in range(300):
            voice.hear(b"x" * 1023 + b"\n")
        missed = voice.screen.left_out
        assert 0 < missed < 300
        os.read(read_end, 1 << 20)
        voice.hear(b"back\n")
        voice.close()
        assert os.read(read_end, 1 << 20).decode().splitlines() == [
            f"… {missed} lines left out, see the logs",
            "noisy | back",
        ]
    os.close(read_end)
    assert len((tmp_path / "noisy.log").read_bytes().splitlines()) == 301


def test_lines_are_cut_where_they_end_however_they_arrive(tmp_path, monkeypatch, capfd):
    voice = Voice("web", Screen(["web", "worker"]), tmp_path / "web.log")
    for piece in (b"one\ntw", b"o\r\n", "셋".encode()[:2], "셋".encode()[2:], b"\n", b"no end"):
        voice.hear(piece)
    voice.close()
    assert capfd.readouterr().out == "web    | one\nweb    | two\nweb    | 셋\nweb    | no end\n"
    assert list(voice.last) == ["one", "two", "셋", "no end"]


def test_a_log_that_grows_too_large_is_turned_over_once(tmp_path, monkeypatch):
    monkeypatch.setattr("config.up.output.LARGEST_LOG", 100)
    voice = Voice("web", Screen(["web"]), tmp_path / "web.log")
    for n in range(20):
        voice.hear(b"%03d %s\n" % (n, b"x" * 30))
    voice.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["web.log", "web.log.1"]
    assert "019" in (tmp_path / "web.log.1").read_text() + (tmp_path / "web.log").read_text()


def test_a_log_that_cannot_be_written_is_told_of_once_and_nothing_else_is_lost(tmp_path, capfd):
    (tmp_path / "web.log").symlink_to("/dev/full")
    voice = Voice("web", Screen(["web"]), tmp_path / "web.log")
    voice.hear(b"one\ntwo\n")
    voice.close()
    complaint = "(its log cannot be written: No space left on device)"
    assert capfd.readouterr().out == f"web | {complaint}\nweb | one\nweb | two\n"
    assert list(voice.last) == ["one", "two"]


@on_linux
def test_ended_children_that_nobody_knows_are_buried():
    known, unknown = subprocess.Popen(["sleep", "60"]), os.spawnlp(os.P_NOWAIT, "true", "true")

    def is_buried() -> bool:
        orphans.bury({known.pid})
        return unknown not in orphans.living()

    assert eventually(is_buried)
    known.terminate()
    assert known.wait() == -signal.SIGTERM, "its exit code was left to the one who knows it"
