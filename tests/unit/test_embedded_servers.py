"""The embedded PostgreSQL and Redis: real, closed to others, and with their data after a new start."""

import os
import socket
import stat
import subprocess
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import psycopg2
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.embedded import CannotStart, child, identity, postgres, valkey
from config.embedded.account import Account, unprivileged
from config.embedded.home import open_home
from config.embedded.ledger import Ledger
from tests.unit.process_tools import marked

ONCE = Retry(NoBackoff(), 0)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts PostgreSQL as somebody else")


@contextmanager
def running_postgres(path: Path, *, durable=False):
    home = open_home(path)
    ledger = Ledger(home)
    server, url = postgres.start(home, ledger, durable=durable)
    try:
        yield server, url
    finally:
        assert child.stop([server]) == []
        ledger.close()
        home.close()


@contextmanager
def running_redis(path: Path):
    home = open_home(path)
    ledger = Ledger(home)
    server, url = valkey.start(home, ledger)
    try:
        yield server, url
    finally:
        assert child.stop([server]) == []
        ledger.close()
        home.close()


def ask(url: str, query: str):
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        connection.commit()
        return cursor.fetchone() if cursor.description else None


def socket_folder(url: str) -> Path:
    return Path(parse_qs(urlsplit(url).query)["host"][0])


@pytest.fixture(scope="module")
def postgres_url(tmp_path_factory):
    with running_postgres(tmp_path_factory.mktemp("pg"), durable=True) as (_, url):
        yield url


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory):
    with running_redis(tmp_path_factory.mktemp("redis")) as (_, url):
        yield url


def test_postgres_is_the_18_and_writes_to_disk(postgres_url):
    (number,) = ask(postgres_url, "SELECT current_setting('server_version_num')::int / 10000")
    assert number == 18
    assert ask(postgres_url, "SELECT current_setting('fsync')") == ("on",)


def test_postgres_has_a_socket_that_only_we_reach_and_no_address(postgres_url):
    assert ask(postgres_url, "SELECT current_setting('listen_addresses')") == ("",)
    folder = socket_folder(postgres_url)
    assert stat.S_ISSOCK((folder / ".s.PGSQL.5432").stat().st_mode)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_postgres_wants_its_password(postgres_url):
    password = unquote(urlsplit(postgres_url).password)
    with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
        psycopg2.connect(postgres_url.replace(password, "guessed"))


def test_the_application_cannot_read_the_machines_files_but_can_make_test_databases(postgres_url):
    with pytest.raises(psycopg2.Error, match="permission denied"):
        ask(postgres_url, "SELECT pg_read_file('/etc/passwd')")
    assert ask(postgres_url, "SELECT rolsuper, rolcreatedb FROM pg_roles WHERE rolname = current_user") == (
        False,
        True,
    )


def test_data_outlives_a_stop_and_the_socket_does_not(tmp_path):
    with running_postgres(tmp_path) as (_, url):
        ask(url, "CREATE TABLE kept AS SELECT 42 AS answer")
        path = socket_folder(url) / ".s.PGSQL.5432"
    assert not path.exists()
    assert marked(str(tmp_path)) == set()
    with running_postgres(tmp_path) as (_, again):
        assert again == url
        assert ask(url, "SELECT answer FROM kept") == (42,)


def test_a_first_start_that_was_cut_short_is_begun_again(tmp_path):
    half = tmp_path / "postgres" / "data.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    with running_postgres(tmp_path) as (_, url):
        assert ask(url, "SELECT 1") == (1,)


def test_a_home_with_a_long_path_puts_its_socket_where_temporary_files_go_and_clears_it(tmp_path):
    with running_postgres(tmp_path / ("long" * 30)) as (_, url):
        folder = socket_folder(url)
        assert tmp_path not in folder.parents
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert ask(url, "SELECT 1") == (1,)
    assert not folder.exists()


def test_a_path_with_spaces_and_quotes_is_no_problem(tmp_path):
    path = tmp_path / 'it\'s a "home", 집'
    with running_postgres(path) as (_, url):
        assert ask(url, "SELECT 1") == (1,)
    with running_redis(path) as (_, url):
        assert redis.Redis.from_url(url).ping()


def test_where_no_socket_can_be_made_it_listens_on_loopback(tmp_path, monkeypatch):
    monkeypatch.setattr(postgres, "_holds_sockets", lambda folder: False)
    with running_postgres(tmp_path) as (_, url):
        assert urlsplit(url).hostname == "127.0.0.1"
        assert ask(url, "SELECT current_setting('listen_addresses')") == ("127.0.0.1",)


def test_a_lock_file_whose_number_went_to_another_process_does_not_keep_it_from_starting(tmp_path):
    with running_postgres(tmp_path) as (server, _):
        pass
    account = unprivileged(tmp_path / "postgres", ())
    # Under PostgreSQL's own account, which is when it takes the process for a postmaster.
    stranger = child.start("stranger", ["sleep", "60"], output=subprocess.DEVNULL, account=account)
    data = tmp_path / "postgres" / "data"
    (data / "postmaster.pid").write_text(f"{stranger.pid}\n{data}\n1\n5432\n\n\n\n")
    with running_postgres(tmp_path) as (again, url):
        assert ask(url, "SELECT 1") == (1,)
        assert again.pid != server.pid
    assert not stranger.has_ended()
    child.stop([stranger])


def test_a_server_that_never_answers_is_told_of_and_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(postgres, "START_SECONDS", 0.5)
    monkeypatch.setattr(psycopg2, "connect", refuse)
    home = open_home(tmp_path)
    with pytest.raises(CannotStart, match=r"PostgreSQL did not answer within 0 s: not yet"):
        postgres.start(home, Ledger(home))
    assert marked(str(tmp_path)) == set()
    home.close()


def refuse(url, **options):
    raise psycopg2.OperationalError("not yet")


def test_data_of_another_version_is_refused_with_what_to_do(tmp_path):
    home = open_home(tmp_path)
    data = tmp_path / "postgres" / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("16\n")
    with pytest.raises(CannotStart, match="made by PostgreSQL 16 and this is 18"):
        postgres.start(home, Ledger(home))
    home.close()


def test_what_postgres_complains_of_is_told_in_a_line(tmp_path):
    with running_postgres(tmp_path):
        pass
    (tmp_path / "postgres" / "data" / "postgresql.conf").write_text("no_such_setting = 1\n")
    home = open_home(tmp_path)
    with pytest.raises(CannotStart, match=r"PostgreSQL did not start: .*FATAL.*errors \(more in"):
        postgres.start(home, Ledger(home))
    home.close()


@as_root
@pytest.mark.parametrize("home", ["closed/home", "closed"])
def test_as_root_postgres_runs_as_somebody_else_also_behind_a_door_only_root_opens(tmp_path, home):
    (tmp_path / "closed").mkdir(mode=0o700)
    with running_postgres(tmp_path / home) as (server, url):
        status = Path(f"/proc/{server.pid}/status").read_text().splitlines()
        values = {name: value.split() for name, _, value in (line.partition(":") for line in status)}
        assert "0" not in values["Uid"]
        # One right is left to it, or a wider one where root has not got that one: to pass through.
        assert int(values["CapEff"][0], 16) in (1 << 2, 1 << 1)
        assert ask(url, "SELECT 1") == (1,)


@as_root
def test_an_account_that_cannot_get_there_is_named_with_the_place(tmp_path, monkeypatch):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(Account, "become", forbidden(Account.become))
    with pytest.raises(CannotStart, match=rf"who cannot reach {closed}/home"):
        unprivileged(tmp_path / "postgres", (closed / "home",))


def forbidden(become):
    """A root that holds no capability to hand on."""

    def without(account: Account) -> None:
        if account.capability is not None:
            raise PermissionError
        become(account)

    return without


def test_redis_is_valkey_on_loopback_only_and_keeps_what_it_is_told(redis_url):
    with closing(redis.Redis.from_url(redis_url, decode_responses=True)) as client:
        assert client.info("server")["server_name"] == "valkey"
        assert client.config_get("bind")["bind"] == "127.0.0.1"
        assert client.config_get("appendonly")["appendonly"] == "yes"
        assert client.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"


def test_redis_wants_its_password(redis_url):
    port = urlsplit(redis_url).port
    with closing(redis.Redis(port=port, retry=ONCE)) as client, pytest.raises(redis.AuthenticationError):
        client.ping()


def test_the_password_of_redis_is_on_no_command_line_and_in_no_readable_file(tmp_path):
    with running_redis(tmp_path) as (server, url):
        assert urlsplit(url).password not in identity.command_line(server.pid)
        for file in (tmp_path / "valkey").glob("*.*"):
            assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0 or file.is_dir()


def test_redis_keeps_its_data_and_its_address(tmp_path):
    with running_redis(tmp_path) as (_, url):
        redis.Redis.from_url(url).set("kept", "yes")
    with running_redis(tmp_path) as (_, again):
        assert again == url
        assert redis.Redis.from_url(url).get("kept") == b"yes"


def test_redis_moves_when_somebody_took_its_port_meanwhile(tmp_path):
    with running_redis(tmp_path) as (_, url):
        port = urlsplit(url).port
    with closing(socket.create_server(("127.0.0.1", port))), running_redis(tmp_path) as (_, again):
        assert urlsplit(again).port != port
        assert urlsplit(again).password == urlsplit(url).password


def test_two_homes_run_side_by_side(tmp_path, redis_url):
    with running_redis(tmp_path) as (_, url):
        assert urlsplit(url).port != urlsplit(redis_url).port
