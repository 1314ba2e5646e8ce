"""`make up`: its output and files. It leaves no process behind."""

import json
import os
import re
import signal
import stat
import sys
import time
from pathlib import Path

import pytest

from config.dev.home import open_home
from config.dev.process import Command, Process
from config.dev.screen import Screen
from config.dev.system import STOP_SECONDS
from tests.unit.dev_checkout import Checkout
from tests.unit.process_tools import eventually

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux's /proc")
TALKER = """
import time
for n in range(10**6):
    print("line", n, flush=True)
    time.sleep(0.05)
"""
IGNORES_TERM = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(300)
"""
FAILING = """
import sys
print("one last line")
sys.exit("an error")
"""
SLEEPER = """
import time
time.sleep(300)
"""
WRITES_ENVIRONMENT = """
import json, os, time
json.dump(dict(os.environ), open("environment", "w"))
print("written", flush=True)
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
    checkout = Checkout(tmp_path)
    yield checkout
    assert checkout.alive() == set()


def started(checkout, environment=None, **scripts):
    web = checkout.script("web", (checkout.path / "web.py").read_text()) + " $PORT"
    checkout.programs(web=web, **{name: checkout.script(name, text) for name, text in scripts.items()})
    return checkout.start(**(environment or {}))


def test_the_steps_the_summary_and_the_lines_of_the_programs_are_printed(checkout):
    up = started(checkout, talker=TALKER).wait_until_up().wait_for("line 30")
    assert up.stop() == 0
    numbers = re.findall(r"^\[(\d)/7\] .* ✓ \d+\.\d s$", up.output, re.MULTILINE)
    assert numbers == ["3", "4", "5", "6", "7"]
    user = up.credentials()["users"][1]
    for text in ("/admin/", "/api/docs", user["username"], user["password"], user["token"]):
        assert text in up.output
    assert "\ntalker | line 30\n" in up.output
    assert "\033" not in up.output, "no colours outside a terminal"
    assert "\nSIGTERM: stopping everything …" in up.output
    assert up.output.endswith("\nEverything is stopped.\n")


def test_the_output_of_the_programs_is_in_the_logs_alone_unless_asked_for(checkout):
    up = started(checkout, {"LOGS": "0"}, talker=TALKER).wait_until_up()
    log = checkout.home / "logs" / "talker.log"
    assert eventually(lambda: "line 30" in log.read_text())
    assert up.stop() == 0
    assert "line" not in up.output
    assert log.read_text().startswith("line 0\nline 1\n")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (log, log.parent)] == [0o600, 0o700], "its owner's"


def test_a_saved_source_file_starts_the_programs_again(checkout):
    source = checkout.path / "jobs" / "greeting.py"
    greeter = "import time\nfrom jobs.greeting import TEXT\nprint(TEXT, flush=True)\ntime.sleep(600)"
    source.write_text("TEXT = 'first'")
    environment = {"RELOAD": "1", "PYTHONPATH": str(checkout.path)}
    up = started(checkout, environment, greeter=greeter).wait_until_up().wait_for("greeter | first")
    source.write_text("TEXT = 'second'")
    up.wait_for("jobs/greeting.py changed").wait_for("greeter | second")
    source.write_text("TEXT = ")
    up.wait_for("It starts again when you save a change.")
    source.write_text("TEXT = 'third'")
    up.wait_for("greeter | third")
    assert up.stop() == 0


def test_variables_are_read_from_the_file_env_and_the_demo_may_be_left_out(checkout):
    text = "# a comment\nGREETING='from the file'\nDEMO=0\nexport FLOWER_PORT=1\n"
    (checkout.path / ".env").write_text(text)
    writer = 'import os, time; print(os.environ["GREETING"], flush=True); time.sleep(600)'
    up = started(checkout, writer=writer).wait_until_up().wait_for("writer | from the file")
    up.stop()
    credentials = up.credentials()
    assert not credentials["flower"]["url"].endswith(":1"), "the environment takes precedence"
    assert ([user["username"] for user in credentials["users"]], credentials["office_id"]) == (
        ["admin"],
        None,
    )
    assert "The user admin" in up.output and "Demo data" not in up.output


def test_credentials_are_private_and_survive_a_restart(checkout):
    up = started(checkout).wait_until_up()
    first = up.credentials()
    assert stat.S_IMODE((checkout.home / "credentials.json").stat().st_mode) == 0o600
    assert set(first) == {"base_url", "redis_url", "cron_secret", "flower", "users", "office_id"}
    assert set(first["flower"]) == {"url", "user", "password"}
    assert [user["username"] for user in first["users"]] == ["admin", "alice", "bob"]
    assert all(set(user) == {"username", "password", "token", "role"} for user in first["users"])
    up.stop()
    up = started(checkout).wait_until_up()
    second = up.credentials()
    up.stop()
    assert second["users"] == first["users"]
    assert second["cron_secret"] == first["cron_secret"]


def test_secrets_are_in_the_environment_and_on_no_command_line_or_log(checkout):
    up = started(checkout, writer=WRITES_ENVIRONMENT).wait_until_up().wait_for("writer | written")
    variables = json.loads((checkout.path / "environment").read_text())
    secrets = [variables["DURE_SECRET_KEY"], variables["CRON_SECRET"]]
    secrets.append(variables["FLOWER_BASIC_AUTH"].partition(":")[2])
    secrets += [user[key] for user in up.credentials()["users"] for key in ("password", "token")]
    assert "DURE_DEMO_USERS" not in variables
    commands = "".join(Path(f"/proc/{pid}/cmdline").read_text() for pid in checkout.alive())
    up.stop()
    logs = "".join(log.read_text() for log in (checkout.home / "logs").iterdir())
    assert not [secret for secret in secrets if secret in commands + logs]


@pytest.fixture
def default_signals():
    """What a test starts does not inherit ignored signals, even if nohup started the tests."""
    ignored = [
        number for number in (signal.SIGINT, signal.SIGHUP) if signal.getsignal(number) == signal.SIG_IGN
    ]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_each_stop_signal_stops_everything(checkout, number):
    up = started(checkout, talker=TALKER).wait_until_up()
    assert up.stop(number) == 0
    assert f"{number.name}: stopping everything" in up.output


def test_signals_that_were_inherited_as_ignored_do_not_prevent_a_stop(checkout):
    previous = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGHUP)}
    try:
        up = started(checkout, talker=TALKER)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    up.wait_until_up()
    up.process.send_signal(signal.SIGHUP)
    up.wait_for("line 50")
    assert up.process.poll() is None, "nohup keeps it running"
    assert up.stop() == 0


def test_a_stop_during_the_start_stops_everything(checkout):
    checkout.programs(release=checkout.script("sleeper", SLEEPER), web="python web.py $PORT")
    up = checkout.start()
    assert eventually(lambda: (checkout.home / "logs" / "release.log").exists())
    assert up.stop() == 0
    assert "Everything is stopped." in up.output


def test_a_program_that_ends_is_reported_and_stops_the_others(checkout):
    up = started(checkout, talker=TALKER, failing=FAILING)
    assert up.process.wait(60) == 1
    assert "failing ended by itself (exit code 1). Its last lines:" in up.output
    assert "    one last line\n    an error\n" in up.output
    assert str(checkout.home / "logs" / "failing.log") in up.output
    assert "Everything is stopped." in up.output


def test_a_killed_program_is_reported_with_its_signal(checkout):
    up = started(checkout, talker=TALKER).wait_until_up()
    (talker,) = [pid for pid in checkout.alive() if "talker.py" in Path(f"/proc/{pid}/cmdline").read_text()]
    os.kill(talker, signal.SIGKILL)
    assert up.process.wait(60) == 1
    assert "talker ended by itself (signal 9)" in up.output


def test_a_second_signal_kills_a_program_that_does_not_stop(checkout):
    up = started(checkout, stubborn=IGNORES_TERM).wait_until_up().wait_for("stubborn | ready")
    up.process.send_signal(signal.SIGTERM)
    up.wait_for("stopping everything")
    first = time.monotonic()
    # Two signals within half a second are one request: Ctrl-C arrives from the terminal and from make.
    assert eventually(lambda: time.monotonic() - first > 0.6)
    assert up.stop() == 0
    assert time.monotonic() - first < STOP_SECONDS
    assert "stubborn did not stop in time and had to be killed." in up.output


@on_linux
def test_all_processes_end_within_10_s_of_a_kill_and_the_next_start_is_clean(checkout):
    up = started(checkout, talker=TALKER).wait_until_up()
    up.process.kill()
    up.process.wait()
    up = started(checkout, talker=TALKER).wait_until_up()
    up.process.kill()
    up.process.wait()
    assert eventually(lambda: checkout.alive() == set(), 10)


def test_a_program_that_is_not_ready_in_time_is_reported(checkout):
    system = checkout.path / "config" / "dev" / "system.py"
    system.write_text(system.read_text().replace("READY_SECONDS = 60.0", "READY_SECONDS = 1.0"))
    checkout.programs(web=checkout.script("silent", NEVER_READY) + " $PORT")
    done = checkout.run()
    assert done.returncode == 1
    assert "Cannot start: Not ready after 1 s. web: /readyz answers 503" in done.stderr


@pytest.mark.parametrize(("no_color", "label"), [("", "\033[36mweb    | \033[0m"), ("1", "web    | ")])
def test_each_program_has_a_colour_in_a_terminal_unless_no_color_is_set(
    tmp_path, capsys, monkeypatch, no_color, label
):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", no_color)
    home = open_home(tmp_path)
    process = Process(home, "web", Command(arguments=["echo", "one"]))
    screen = Screen(["web", "worker"])
    screen.follow(process)
    assert eventually(process.has_ended)
    screen.show()
    home.close()
    assert capsys.readouterr().out == f"{label}one\n"


def test_the_screen_prints_whole_lines_of_this_run_only(tmp_path, capsys):
    home = open_home(tmp_path)
    (home.logs / "web.log").write_text("an earlier run\n")
    script = "printf 'one\\ntw'; sleep 0.3; printf 'o\\r\\n\\355\\220\\n'"
    process = Process(home, "web", Command(arguments=["sh", "-c", script]))
    screen = Screen(["web", "worker"])
    screen.follow(process)
    while not process.has_ended():
        screen.show()
    screen.show()
    home.close()
    assert capsys.readouterr().out == "web    | one\nweb    | two\nweb    | \N{REPLACEMENT CHARACTER}\n"
