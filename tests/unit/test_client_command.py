"""The command `dure`: the saved login, arguments and exit codes."""

import io
import json
import stat
from datetime import datetime

import pytest

import dure
from dure import cli, login
from dure.cli.arguments import DONE, UNFINISHED
from tests.unit.stub_server import stub
from tests.unit.test_client_requests import JOB, OFFICE, answer, header, no_login, problem

assert no_login  # an autouse fixture
TIME = "2026-12-01T09:00+09:00"
OFFICES = {"count": 1, "next": None, "previous": None, "results": [
    {"id": OFFICE, "name": "north", "role": "owner", "created_at": "2026-12-01T09:00:00+09:00"}
]}  # fmt: skip


def sign_in(monkeypatch, port: int, token: str = "secret") -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(token + "\n"))
    return cli.main(["login", "--url", f"http://127.0.0.1:{port}/"])


def test_login_saves_the_token_for_the_user_only_and_does_not_print_it(monkeypatch, capsys):
    with stub(answer(200, OFFICES)) as server:
        assert sign_in(monkeypatch, server.port) == 0
    printed = capsys.readouterr()
    assert "secret" not in printed.out + printed.err
    path = login.login_file()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    saved = json.loads(path.read_text())
    assert saved == {"url": f"http://127.0.0.1:{server.port}", "token": "secret", "office": OFFICE}
    assert "secret" not in repr(login.read_saved())
    assert cli.main(["logout"]) == 0
    assert not path.exists()


def test_a_refused_token_is_not_saved(monkeypatch, capsys):
    with stub(problem(401, "not_authenticated")) as server:
        assert sign_in(monkeypatch, server.port) == 3
    assert "Not so. (401 not_authenticated)" in capsys.readouterr().err
    assert not login.login_file().exists()


@pytest.mark.parametrize("token", ["", "two words", "line\x00end", "토큰"])
def test_a_token_that_cannot_be_one_is_refused_without_a_request(monkeypatch, capsys, token):
    with stub() as server:
        assert sign_in(monkeypatch, server.port, token) == 2
    assert server.connections == 0


def test_the_saved_token_goes_only_to_its_server(monkeypatch):
    login.save(login.Login("https://dure.example", "secret"))
    assert login.find().token == "secret"
    assert login.find("https://dure.example/").token == "secret"
    monkeypatch.setenv("DURE_URL", "https://other.example")
    with pytest.raises(dure.ConfigurationError, match="No token for"):
        login.find()
    monkeypatch.setenv("DURE_TOKEN", "mine")
    assert login.find() == login.Login("https://other.example", "mine")


@pytest.mark.parametrize(
    "url",
    ["dure.example", "ftp://dure.example", "http://", "http://a:b@dure.example", "http://dure.example:port"],
)
def test_a_url_that_is_no_address_of_a_server_is_refused(url):
    with pytest.raises(dure.ConfigurationError, match="not the address of a server"):
        login.find(url, "secret")


@pytest.mark.parametrize(
    ("status", "code"), [("done", DONE), ("failed", 1), ("cancelled", 1), ("processing", UNFINISHED)]
)
def test_the_exit_code_says_how_the_job_ended(monkeypatch, capsys, status, code):
    with stub(answer(200, JOB | {"status": status, "error_message": "\x1b[2Jno"})) as server:
        login.save(login.Login(f"http://127.0.0.1:{server.port}", "secret", OFFICE))
        arguments = ["submit", "demo.sum", "--arg", "numbers=[1]", "--wait", "--timeout", "0.05"]
        assert cli.main(arguments) == code
    body = json.loads(server.requests[0].partition(b"\r\n\r\n")[2])
    assert body == {"task_id": "demo.sum", "args": {"numbers": [1]}}
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert (status in printed) is (code != UNFINISHED)


def test_json_is_what_the_api_answers(capsys):
    with stub(answer(200, JOB)) as server:
        login.save(login.Login(f"http://127.0.0.1:{server.port}", "secret", OFFICE))
        assert cli.main(["jobs", "show", str(JOB["id"]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == JOB
    assert header(server.requests[0], "Authorization") == "Token secret"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["submit"],
        ["submit", "demo.sum", "--arg", "numbers"],
        ["submit", "demo.sum", "--arg", "name=text"],
        ["submit", "demo.sum", "--wait", "--timeout", "-1"],
        ["jobs", "list", "--status", "odd"],
        ["jobs", "list", "--limit", "0"],
        ["workflows", "run", "report", "--input", "@absent.json"],
        ["workflows", "create", "report", '{"task_id": "demo.sum"}'],
        ["schedules", "create", "nightly", "demo.sum"],
        ["schedules", "create", "nightly", "demo.sum", "--at", "tomorrow"],
        ["schedules", "create", "nightly", "demo.sum", "--every", "60", "--cron", "* * * * *"],
        ["exports", "start", "one"],
    ],
)
def test_wrong_usage_is_exit_code_2(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert "usage: dure" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "rule"),
    [
        (["--cron", "0 3 * * *"], {"kind": "cron", "cron": "0 3 * * *"}),
        (["--every", "60", "--paused"], {"kind": "interval", "every_seconds": 60, "enabled": False}),
        (["--at", TIME], {"kind": "once", "at": datetime.fromisoformat(TIME)}),
    ],
)
def test_a_schedule_is_created_with_the_kind_of_its_rule(option, rule):
    document = {"id": OFFICE, "name": "nightly", "task_id": "demo.sum", "enabled": True, "timezone": "UTC"}
    with stub(answer(201, document | {"kind": rule["kind"]})) as server:
        login.save(login.Login(f"http://127.0.0.1:{server.port}", "secret", OFFICE))
        assert cli.main(["schedules", "create", "nightly", "demo.sum", "--arg", "numbers=[1]", *option]) == 0
    body = json.loads(server.requests[0].partition(b"\r\n\r\n")[2])
    if "at" in body:
        body["at"] = datetime.fromisoformat(body["at"])
    assert body == {"name": "nightly", "task_id": "demo.sum", "args": {"numbers": [1]}, **rule}


def test_a_command_without_login_says_what_to_do(capsys):
    assert cli.main(["jobs", "list"]) == 2
    assert "run `dure login`" in capsys.readouterr().err


def test_an_office_is_found_by_its_name_and_must_be_one(capsys):
    with stub(answer(200, OFFICES)) as server:
        login.save(login.Login(f"http://127.0.0.1:{server.port}", "secret"))
        with dure.Client() as client:
            assert client.office_id() == client.office_id("north") == OFFICE
        assert cli.main(["jobs", "list", "--office", "south"]) == 2
    assert "north" in capsys.readouterr().err
