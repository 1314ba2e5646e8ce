"""`make up` refuses to start in one line, with an exit code, and before it starts anything."""

import socket
from contextlib import closing

import pytest

from config.dev import CannotStart, options, procfile
from tests.unit.dev_checkout import Checkout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return Checkout(tmp_path_factory.mktemp("checkout"))


def refusal(checkout, **environment):
    done = checkout.run(**environment)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    assert "[3/7]" not in done.stdout, "it must refuse before it starts anything"
    return done.stderr


@pytest.mark.parametrize(
    ("variable", "value", "complaint"),
    [
        ("PORT", "eighty", "PORT must be a whole number; got 'eighty'."),
        ("PORT", "70000", "PORT must be between 1 and 65535; got 70000."),
        ("DATABASE_URL", "mysql://db/dure", "its scheme is 'mysql'"),
        ("DATABASE_URL", "postgresql://db", "DATABASE_URL names no database: it must end in /name."),
        ("REDIS_URL", "localhost:6379", "REDIS_URL must look like redis://"),
        ("DURE_ENV", "staging", "DURE_ENV must be one of development, test, production; got 'staging'."),
        ("HOST", "203.0.113.7", "HOST=203.0.113.7 is no address of this machine"),
    ],
)
def test_a_malformed_variable_is_named_with_its_format(checkout, variable, value, complaint):
    message = refusal(checkout, **{variable: value})
    assert complaint in message
    assert message.count("\n") == 1, message


@pytest.mark.parametrize("variable", ["PORT", "FLOWER_PORT"])
def test_a_port_in_use_is_named_with_how_to_choose_another(checkout, variable):
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        message = refusal(checkout, **{variable: str(port)})
    assert message == (
        f"Cannot start: Port {port} cannot be used, it is taken: stop what uses it, "
        f"or choose another one: make up {variable}={port + 1}\n"
    )


def test_a_port_of_two_programs_is_refused(checkout):
    assert "PORT and FLOWER_PORT are both 8123: change" in refusal(checkout, PORT="8123", FLOWER_PORT="8123")


def test_an_incomplete_production_is_refused_with_all_missing_variables(checkout):
    message = refusal(checkout, DURE_ENV="production")
    for name in ("DURE_SECRET_KEY", "DURE_ALLOWED_HOSTS", "FLOWER_BASIC_AUTH"):
        assert name in message


def test_a_complete_production_is_referred_to_the_procfile(checkout):
    message = refusal(
        checkout,
        DURE_ENV="production",
        DURE_SECRET_KEY="x1" * 30,
        DURE_ALLOWED_HOSTS="dure.example",
        FLOWER_BASIC_AUTH="admin:" + "y2" * 10,
        DURE_DEBUG="0",
    )
    assert "it creates demo users. In production run the commands of the Procfile" in message


@pytest.mark.parametrize(
    ("variable", "url"),
    [
        ("DATABASE_URL", "postgresql://dure:hidden@127.0.0.1:1/dure"),
        ("REDIS_URL", "redis://:hidden@127.0.0.1:1/0"),
    ],
)
def test_a_server_that_does_not_answer_is_reported_without_its_password(checkout, variable, url):
    done = checkout.run(**{variable: url})
    assert done.returncode == 1
    assert f"Cannot start: {variable} does not answer: " in done.stderr
    assert done.stderr.count("\n") == 1
    assert "hidden" not in done.stdout + done.stderr


def test_damaged_secrets_are_reported_and_not_replaced(checkout, tmp_path):
    (tmp_path / "secrets.json").write_text("{}")
    done = checkout.run(DURE_HOME=str(tmp_path))
    assert done.returncode == 1
    assert f"{tmp_path}/secrets.json is damaged: remove it to get new passwords and tokens." in done.stderr
    assert (tmp_path / "secrets.json").read_text() == "{}"


def test_failing_migrations_are_reported_in_one_line_with_their_log(tmp_path):
    checkout = Checkout(tmp_path)
    checkout.programs(release="python -c 'raise SystemExit(\"no such table\")'", web="python web.py $PORT")
    done = checkout.run()
    assert done.returncode == 1
    assert (
        f"Cannot start: release failed: no such table (more in {checkout.home}/logs/release.log)"
        in done.stderr
    )


def test_failing_demo_data_stops_the_programs(tmp_path):
    checkout = Checkout(tmp_path)
    checkout.programs(web=checkout.script("web", (tmp_path / "web.py").read_text()) + " $PORT")
    done = checkout.run(BREAK_DEMO="office is closed")
    assert done.returncode == 1
    assert "demo failed: office is closed" in done.stderr
    assert checkout.alive() == set()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("web uvicorn", "line 1: expected `name: command`, got 'web uvicorn'."),
        ("web: a\n\n# why\nweb: b", "line 4: web is there twice."),
    ],
)
def test_a_malformed_procfile_is_refused_with_its_line(tmp_path, text, complaint):
    (tmp_path / "Procfile").write_text(text)
    with pytest.raises(CannotStart) as refused:
        procfile.read(tmp_path / "Procfile")
    assert complaint in str(refused.value)


def test_the_procfile_names_the_programs_and_the_migrations():
    programs = procfile.read(options.CHECKOUT / "Procfile")
    assert programs[procfile.RELEASE].command.startswith("python manage.py migrate")
    assert {"web", "beat", "control", "worker", "exporter", "flower"} <= set(programs)
