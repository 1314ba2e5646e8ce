"""The embedded PostgreSQL and Redis: real servers, closed to others, whose data survives a restart."""

import os
import socket
import stat
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import psycopg2
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.dev import CannotStart, postgres
from config.dev import redis as dev_redis
from config.dev.home import open_home
from config.dev.postgres import PostgreSQL
from config.dev.process import Command, Process, stop
from tests.unit.process_tools import processes_with_mark

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts PostgreSQL as another user")


@contextmanager
def running(path: Path, start):
    home = open_home(path)
    server, url = start(home)
    try:
        yield server, url
    finally:
        assert stop([server]) == []
        home.close()


def running_postgres(path: Path, *, durable=False):
    return running(path, lambda home: PostgreSQL(home, durable=durable).start())


def running_redis(path: Path):
    return running(path, dev_redis.start)


def query(url: str, statement: str):
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(statement)
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


def test_postgres_is_version_18_and_writes_to_disk(postgres_url):
    assert query(postgres_url, "SELECT current_setting('server_version_num')::int / 10000") == (18,)
    assert query(postgres_url, "SELECT current_setting('fsync')") == ("on",)


def test_postgres_listens_on_a_private_socket_only(postgres_url):
    assert query(postgres_url, "SELECT current_setting('listen_addresses')") == ("",)
    folder = socket_folder(postgres_url)
    assert stat.S_ISSOCK((folder / ".s.PGSQL.5432").stat().st_mode)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_postgres_requires_its_password(postgres_url):
    password = unquote(urlsplit(postgres_url).password)
    with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
        psycopg2.connect(postgres_url.replace(password, "guessed"))


def test_the_application_role_cannot_read_files_and_can_create_test_databases(postgres_url):
    with pytest.raises(psycopg2.Error, match="permission denied"):
        query(postgres_url, "SELECT pg_read_file('/etc/passwd')")
    rights = query(postgres_url, "SELECT rolsuper, rolcreatedb FROM pg_roles WHERE rolname = current_user")
    assert rights == (False, True)


def test_data_survives_a_restart_and_the_socket_does_not(tmp_path):
    with running_postgres(tmp_path) as (_, url):
        query(url, "CREATE TABLE kept AS SELECT 42 AS answer")
        path = socket_folder(url) / ".s.PGSQL.5432"
    assert not path.exists()
    assert processes_with_mark(str(tmp_path)) == set()
    with running_postgres(tmp_path) as (_, second_url):
        assert second_url == url
        assert query(url, "SELECT answer FROM kept") == (42,)


def test_an_interrupted_first_start_is_repeated(tmp_path):
    half = tmp_path / "postgres" / "data.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    with running_postgres(tmp_path) as (_, url):
        assert query(url, "SELECT 1") == (1,)


def test_the_socket_of_a_home_with_a_long_path_is_in_a_temporary_folder(tmp_path):
    with running_postgres(tmp_path / ("long" * 30)) as (_, url):
        folder = socket_folder(url)
        assert tmp_path not in folder.parents
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert query(url, "SELECT 1") == (1,)
    assert not folder.exists()


def test_paths_may_contain_spaces_and_quotes(tmp_path):
    path = tmp_path / 'it\'s a "home", 집'
    with running_postgres(path) as (_, url):
        assert query(url, "SELECT 1") == (1,)
    with running_redis(path) as (_, url):
        assert redis.Redis.from_url(url).ping()


def test_a_stale_pid_file_that_names_another_process_does_not_prevent_the_start(tmp_path):
    with running_postgres(tmp_path):
        pass
    home = open_home(tmp_path / "other")
    # Under PostgreSQL's own account, since it takes only such a process for a server.
    other = Process(home, "other", Command(arguments=[*PostgreSQL(home).prefix, "sleep", "600"]))
    data = tmp_path / "postgres" / "data"
    (data / "postmaster.pid").write_text(f"{other.pid}\n{data}\n1\n5432\n\n\n\n")
    with running_postgres(tmp_path) as (_, url):
        assert query(url, "SELECT 1") == (1,)
    assert not other.has_ended()
    stop([other])
    home.close()


def test_a_server_that_never_answers_is_reported_and_stopped(tmp_path, monkeypatch):
    def refuse(url, **options):
        raise psycopg2.OperationalError("not yet")

    monkeypatch.setattr(postgres, "START_SECONDS", 0.5)
    monkeypatch.setattr(psycopg2, "connect", refuse)
    home = open_home(tmp_path)
    with pytest.raises(CannotStart, match=r"PostgreSQL did not answer within 0 s: not yet"):
        PostgreSQL(home, durable=False).start()
    assert processes_with_mark(str(tmp_path)) == set()
    home.close()


def test_data_of_another_major_version_is_refused(tmp_path):
    home = open_home(tmp_path)
    data = tmp_path / "postgres" / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("16\n")
    with pytest.raises(CannotStart, match="created by PostgreSQL 16 and this is 18"):
        PostgreSQL(home).start()
    home.close()


def test_the_error_of_postgres_is_reported_in_one_line(tmp_path):
    with running_postgres(tmp_path):
        pass
    (tmp_path / "postgres" / "data" / "postgresql.conf").write_text("no_such_setting = 1\n")
    home = open_home(tmp_path)
    with pytest.raises(CannotStart, match=r"PostgreSQL did not start: .*FATAL.*errors \(more in"):
        PostgreSQL(home, durable=False).start()
    home.close()


@as_root
@pytest.mark.parametrize("home", ["closed/home", "closed"])
def test_postgres_started_by_root_runs_as_another_user(tmp_path, home):
    (tmp_path / "closed").mkdir(mode=0o700)
    with running_postgres(tmp_path / home) as (server, url):
        status = Path(f"/proc/{server.pid}/status").read_text().splitlines()
        values = {name: value.split() for name, _, value in (line.partition(":") for line in status)}
        assert "0" not in values["Uid"]
        # One capability to pass through folders; a root without the first hands on the second.
        assert int(values["CapEff"][0], 16) in (1 << 2, 1 << 1)
        assert query(url, "SELECT 1") == (1,)


@as_root
def test_an_unreachable_folder_is_named_with_the_account(tmp_path, monkeypatch):
    (tmp_path / "closed").mkdir(mode=0o700)
    # A root that has no capability to hand on.
    succeeds = postgres._succeeds
    monkeypatch.setattr(
        postgres, "_succeeds", lambda command: "securebits" not in str(command) and succeeds(command)
    )
    home = open_home(tmp_path / "closed" / "home")
    with pytest.raises(CannotStart, match=rf"who cannot reach {tmp_path}/closed/home"):
        PostgreSQL(home)
    home.close()


def test_redis_is_valkey_on_loopback_and_persistent(redis_url):
    with closing(redis.Redis.from_url(redis_url, decode_responses=True)) as client:
        assert client.info("server")["server_name"] == "valkey"
        assert client.config_get("bind")["bind"] == "127.0.0.1"
        assert client.config_get("appendonly")["appendonly"] == "yes"
        assert client.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"


def test_redis_requires_its_password(redis_url):
    once = Retry(NoBackoff(), 0)
    client = redis.Redis(port=urlsplit(redis_url).port, retry=once)
    with closing(client), pytest.raises(redis.AuthenticationError):
        client.ping()


def test_the_password_of_redis_is_on_no_command_line_and_in_no_readable_file(tmp_path):
    with running_redis(tmp_path) as (server, url):
        assert urlsplit(url).password not in Path(f"/proc/{server.pid}/cmdline").read_text()
        for file in (tmp_path / "valkey").glob("*.*"):
            assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0 or file.is_dir()


def test_redis_keeps_its_data_and_its_address(tmp_path):
    with running_redis(tmp_path) as (_, url):
        redis.Redis.from_url(url).set("kept", "yes")
    with running_redis(tmp_path) as (_, second_url):
        assert second_url == url
        assert redis.Redis.from_url(url).get("kept") == b"yes"


def test_redis_changes_its_port_when_another_server_uses_it(tmp_path):
    with running_redis(tmp_path) as (_, url):
        port = urlsplit(url).port
    with closing(socket.create_server(("127.0.0.1", port))), running_redis(tmp_path) as (_, second_url):
        assert urlsplit(second_url).port != port
        assert urlsplit(second_url).password == urlsplit(url).password


def test_several_homes_run_side_by_side(tmp_path, redis_url):
    with running_redis(tmp_path) as (_, url):
        assert urlsplit(url).port != urlsplit(redis_url).port
