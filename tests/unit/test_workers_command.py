"""`command.run` with real programs."""

import json
import shlex
import shutil
import sys
import uuid

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from dure import InvalidArgs, PermissionRefused, SessionError, Stopped
from dure.results import encode_result
from dure.testing import FakeContext
from jobs import registry
from tests.unit.process_tools import processes_with_mark
from workers.command import TAIL_BYTES, Tail, run_command

SECRETS = ("DATABASE_URL", "REDIS_URL", "DURE_SECRET_KEY", "CRON_SECRET", "AWS_SECRET_ACCESS_KEY")


@pytest.fixture(autouse=True)
def _allowed(settings, tmp_path, monkeypatch):
    settings.DURE_COMMANDS = ["echo", "printf", "sh", "cat", "true", "printenv", "head", "nosuch"]
    settings.DURE_COMMAND_PATH = "/usr/bin:/bin"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


@pytest.fixture
def ctx():
    return FakeContext()


def test_a_command_that_succeeds_gives_its_output(ctx):
    result = run_command(ctx, "echo", ["hello", "두레"])
    assert result["exit_code"] == 0
    assert result["output_tail"] == "hello 두레\n"
    assert result["seconds"] > 0


def test_the_session_is_named(ctx):
    run_command(ctx, "true")
    assert len(ctx.sessions) == 1
    assert ctx.sessions[0].startswith("cmd-")


def test_a_failing_command_is_a_session_error_with_the_end_of_its_output(ctx):
    script = "for i in 1 2 3 4 5 6 7 8; do echo line $i; done; printf '\\033[31mred\\033[0m\\n' >&2; exit 4"
    with pytest.raises(SessionError) as failure:
        run_command(ctx, "sh", ["-c", script])
    assert str(failure.value) == "sh ended with exit code 4:\nline 5\nline 6\nline 7\nline 8\nred"
    assert failure.value.failure_type == "session_error"


def test_a_failure_without_output_has_a_message_too(ctx):
    with pytest.raises(SessionError, match=r"^sh ended with exit code 1\.$"):
        run_command(ctx, "sh", ["-c", "exit 1"])


def test_a_command_that_a_signal_ends_names_it(ctx):
    with pytest.raises(SessionError, match="ended by SIGKILL"):
        run_command(ctx, "sh", ["-c", "kill -KILL $$"])


NOT_ALLOWED = [
    *("rm", "", "/bin/echo", "./echo", "../bin/echo", "echo ", "ECHO", "-c"),
    *("echo;id", "echo\n", "echo\0", "$(id)"),
]


@pytest.mark.parametrize("command", NOT_ALLOWED)
def test_a_command_that_is_not_allowed_is_refused(ctx, command):
    with pytest.raises(PermissionRefused, match="DURE_COMMANDS"):
        run_command(ctx, command)


def test_a_path_is_refused_even_if_it_is_allowed(ctx, settings):
    settings.DURE_COMMANDS = ["/bin/echo", ".", ".."]
    for command in settings.DURE_COMMANDS:
        with pytest.raises(PermissionRefused):
            run_command(ctx, command)


def test_an_allowed_command_that_is_not_installed_here_may_be_tried_elsewhere(ctx):
    with pytest.raises(SessionError, match="not installed"):
        run_command(ctx, "nosuch")


@pytest.mark.parametrize("path", ["", ":", ".", "bin", "/nonexistent"])
def test_only_absolute_folders_of_the_path_are_searched(ctx, settings, tmp_path, monkeypatch, path):
    shutil.copy("/bin/echo", tmp_path / "echo")
    (tmp_path / "bin").mkdir()
    shutil.copy("/bin/echo", tmp_path / "bin" / "echo")
    monkeypatch.chdir(tmp_path)
    settings.DURE_COMMAND_PATH = path
    with pytest.raises(SessionError, match="not installed"):
        run_command(ctx, "echo")


HOSTILE = [
    *("; id", "$(id)", "`id`", "a\nb", "| cat /etc/passwd", "> /tmp/x", "&& id", "$HOME", "*", "~"),
    *("-o ProxyCommand=id", "--", "-", "", " ", "%s%n", "'\"\\", "\x1b[31m", "\x7f"),
    *("../../etc/passwd", "한글 두레", "🪢"),
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_an_argument_arrives_as_it_is(ctx, hostile):
    assert run_command(ctx, "printf", ["%s|", hostile, "end"])["output_tail"] == f"{hostile}|end|"


@hypothesis_settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=50))
def test_any_text_arrives_as_it_is(text):
    # A newline in bytes stays one: no translation on the way.
    assert run_command(FakeContext(), "printf", ["%s|", text])["output_tail"] == f"{text}|"


@pytest.mark.parametrize(
    "args",
    [["a\0b"], ["\0"], ["x" * 131_072], ["x" * 1_000] * 100, ["x"] * 1_001, ["\ud800"], ["한" * 30_000]],
    ids=["NUL inside", "NUL", "one long", "long together", "too many", "surrogate", "long in bytes"],
)
def test_arguments_that_cannot_be_given_are_refused(ctx, args):
    with pytest.raises(InvalidArgs):
        run_command(ctx, "true", args)


@pytest.mark.parametrize("args", ["id", [1], [None], [["a"]], {"a": "b"}])
def test_arguments_that_are_no_list_of_text_are_refused_at_submission(args):
    with pytest.raises(InvalidArgs, match="args"):
        registry.find("command.run").check_args({"command": "true", "args": args})


def test_the_environment_holds_nothing_of_the_worker(ctx, monkeypatch):
    for name in (*SECRETS, "PYTHONPATH", "LD_PRELOAD_X", "BASH_ENV", "ENV", "IFS"):
        monkeypatch.setenv(name, f"secret-{name}")
    output = run_command(ctx, "cat", ["/proc/self/environ"])["output_tail"].replace("\ufffd", "\n")
    variables = dict(line.partition("=")[::2] for line in output.splitlines())
    assert "secret" not in output
    assert set(variables) == {
        "PATH",
        "LANG",
        "HOME",
        "TMPDIR",
        "DURE_EXECUTION_ID",
        "DURE_ATTEMPT",
        "DURE_IDEMPOTENCY_KEY",
    }
    assert variables["DURE_EXECUTION_ID"] == ctx.execution_id
    assert variables["DURE_ATTEMPT"] == "1"
    assert variables["DURE_IDEMPOTENCY_KEY"] == ctx.idempotency_key


def test_the_guards_environment_and_command_line_hold_no_secret_either(ctx, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "secret")
    script = "cat /proc/$PPID/environ /proc/$PPID/cmdline"
    assert "secret" not in run_command(ctx, "sh", ["-c", script])["output_tail"]


def test_only_the_end_of_a_long_output_is_kept(ctx):
    result = run_command(ctx, "sh", ["-c", "seq 1 200000"])
    assert result["output_tail"].endswith("199999\n200000\n")
    assert len(result["output_tail"]) == TAIL_BYTES


@pytest.mark.parametrize(
    "script", ["head -c 200000 /dev/urandom", "head -c 200000 /dev/zero", "yes '\"\\' | head -c 200000"]
)
def test_any_output_makes_a_result_that_fits_and_can_be_stored(ctx, settings, script):
    settings.DURE_MAX_RESULT_BYTES = 64 * 1024
    result = run_command(ctx, "sh", ["-c", script])
    text = encode_result(result)
    assert settings.DURE_MAX_RESULT_BYTES // 2 < len(text.encode()) <= settings.DURE_MAX_RESULT_BYTES
    assert "\0" not in result["output_tail"]
    assert json.loads(text) == result


def test_the_last_line_is_shown_as_progress_at_most_once_a_second(tmp_path):
    class Showing(FakeContext):
        def progress(self, fraction=None, message=""):
            super().progress(fraction, message)
            (tmp_path / message).touch()

    # The reader of the output may be late: the program waits until its first and its last line are shown.
    script = """
        until_shown() { until [ -e "$0/$1" ]; do sleep 0.05; done; }
        echo step 1; until_shown "step 1"
        for i in 2 3 4 5 6 7 8 9; do echo step $i; sleep 0.15; done; until_shown "step 9"
    """
    ctx = Showing()
    result = run_command(ctx, "sh", ["-c", script, str(tmp_path)])
    messages = [message for _, message in ctx.reported]
    assert 2 <= len(messages) <= result["seconds"] + 1
    assert messages[0] == "step 1"
    assert messages[-1] == "step 9"


@pytest.mark.parametrize("error", [Stopped, RuntimeError])
def test_an_interruption_passes_and_leaves_no_process(monkeypatch, error):
    mark = f"mark-{uuid.uuid4().hex}"

    class Interrupting(FakeContext):
        def progress(self, fraction=None, message=""):
            raise error

    program = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(300)"
    script = f"setsid {sys.executable} -c {shlex.quote(program)} {mark} & wait"
    with pytest.raises(error):
        run_command(Interrupting(), "sh", ["-c", script])
    assert processes_with_mark(mark) == set()


def test_the_temporary_folder_is_empty_afterwards(ctx, tmp_path):
    run_command(ctx, "sh", ["-c", "touch a; mkdir b"])
    with pytest.raises(SessionError):
        run_command(ctx, "sh", ["-c", "touch a; exit 1"])
    assert list(tmp_path.iterdir()) == []


def test_a_tail_keeps_the_end_whatever_the_pieces():
    tail = Tail()
    for number in range(20_000):
        tail.add(f"{number}\n".encode())
    assert tail.text() == "".join(f"{number}\n" for number in range(20_000))[-TAIL_BYTES:]


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (b"", ""),
        (b"one\ntwo\n\n  \n", "two"),
        (b"10%\r20%\r30%", "30%"),
        (b"\x1b[1;31mred\x1b[0m\x07", "red"),
        (b"a\x00b\xff", "ab\ufffd"),
        (b"x" * 1_000, "x" * 200),
    ],
)
def test_the_last_line_is_fit_to_be_shown(output, line):
    tail = Tail()
    tail.add(output)
    assert tail.last_line() == line
