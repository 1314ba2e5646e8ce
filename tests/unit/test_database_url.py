"""DATABASE_URL: one server, a socket, or a primary and its standbys."""

import re
import shlex
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "operations.md"


def read(url: str, monkeypatch: pytest.MonkeyPatch) -> tuple[object, ...]:
    monkeypatch.setenv("DATABASE_URL", url)
    settings = env.postgres("DATABASE_URL", "")
    return tuple(settings[name] for name in ("USER", "PASSWORD", "HOST", "PORT", "NAME", "OPTIONS"))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://dure:p%40ss@db:5433/dure", ("dure", "p@ss", "db", "5433", "dure", {})),
        ("postgresql://db/dure", ("", "", "db", "", "dure", {})),
        ("postgresql://[::1]:5433/dure", ("", "", "::1", "5433", "dure", {})),
        ("postgresql://u@/dure?host=/run/postgresql", ("u", "", "/run/postgresql", "", "dure", {})),
        (
            "postgresql://u:p@one:5432,two:5433/dure?target_session_attrs=read-write",
            ("u", "p", "one,two", "5432,5433", "dure", {"target_session_attrs": "read-write"}),
        ),
        ("postgresql://u@/dure?host=one%2Ctwo&port=1%2C2", ("u", "", "one,two", "1,2", "dure", {})),
        ("postgresql://u@one,two/dure", ("u", "", "one,two", "", "dure", {})),
        ("postgresql://u@one,two:5433/dure", ("u", "", "one,two", ",5433", "dure", {})),
        (
            "postgresql://u@/dure?host=/one,/two&port=1,2&sslmode=verify-full",
            ("u", "", "/one,/two", "1,2", "dure", {"sslmode": "verify-full"}),
        ),
    ],
)
def test_a_url_is_read(url, expected, monkeypatch):
    assert read(url, monkeypatch) == expected


def test_the_url_of_the_guide_names_a_primary_and_its_standby(monkeypatch):
    (line,) = re.findall(r"<!-- tested -->\n```sh\n(DATABASE_URL=.*)\n```", GUIDE.read_text())
    _, _, hosts, ports, _, options = read(shlex.split(line)[0].removeprefix("DATABASE_URL="), monkeypatch)
    assert (hosts, ports) == ("db1,db2", "5432,5432")
    assert options == {"target_session_attrs": "read-write", "connect_timeout": "3"}


@pytest.mark.parametrize(
    "url", ["mysql://db/dure", "postgresql://db", "postgresql://one:x,two/dure", "postgresql://[::1/dure"]
)
def test_an_invalid_url_stops_the_start_and_names_the_variable(url, monkeypatch):
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL"):
        read(url, monkeypatch)
