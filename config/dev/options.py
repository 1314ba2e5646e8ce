"""The options of `make up` from environment variables, and the checks before it starts anything."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg2
from dotenv import load_dotenv

from config import env
from config.dev import CannotStart, own_repository, ports
from config.dev.home import not_writable
from jobs.redis import CHECK, ERRORS, connect
from jobs.texts import first_line

CHECKOUT = Path(__file__).resolve().parents[2]
EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104
CONNECT_SECONDS = 5


@dataclass(frozen=True)
class Options:
    home: Path
    host: str
    port: int
    flower_port: int
    database_url: str
    redis_url: str
    has_demo: bool
    shows_logs: bool
    reloads: bool
    # A repository of one's own Tasks.
    own: Path | None
    # Its programs alone are started, for a Dure that runs elsewhere.
    only_own: bool

    @property
    def python_path(self) -> str:
        folders = [str(self.own) if self.own else "", os.environ.get("PYTHONPATH", "")]
        return os.pathsep.join(filter(None, folders))

    @property
    def reachable_host(self) -> str:
        return ports.LOOPBACK if self.host in EVERY_ADDRESS else self.host

    @property
    def base_url(self) -> str:
        host = f"[{self.reachable_host}]" if ":" in self.reachable_host else self.reachable_host
        return f"http://{host}:{self.port}"

    @property
    def flower_url(self) -> str:
        return f"http://{ports.LOOPBACK}:{self.flower_port}"


def read() -> Options:
    """The settings read the same variables, and name the first malformed one.

    The file .env adds variables to the environment, which takes precedence; that of one's own repository
    is before that of the checkout.
    """
    own = own_repository.folder(os.environ)
    if own:
        load_dotenv(own / ".env")
    load_dotenv(CHECKOUT / ".env")
    try:
        from config import settings
    except PermissionError as error:  # they look in the home for running servers
        raise CannotStart(not_writable(env.folder("DURE_HOME", CHECKOUT / "var"), error)) from None

    if settings.PRODUCTION:
        raise CannotStart(
            "`make up` is for trying out and developing: it creates demo users. "
            "In production run the commands of the Procfile, each as its own service."
        )
    options = Options(
        home=settings.DURE_HOME,
        host=env.text("HOST", ports.LOOPBACK),
        port=settings.PORT,
        flower_port=settings.FLOWER_PORT,
        database_url=env.text("DATABASE_URL"),
        redis_url=env.text("REDIS_URL"),
        has_demo=env.flag("DEMO", True),
        shows_logs=env.flag("LOGS"),
        reloads=env.flag("RELOAD"),
        own=own,
        only_own=env.flag("DURE_ONLY_OWN"),
    )
    if options.port == options.flower_port:
        raise CannotStart(f"PORT and FLOWER_PORT are both {options.port}: change one of them.")
    return options


def check_ports(options: Options) -> None:
    if not ports.is_local(options.host):
        raise CannotStart(
            f"HOST={options.host} is no address of this machine: use 127.0.0.1, or 0.0.0.0 for all."
        )
    for variable, host, port in (
        ("PORT", options.host, options.port),
        ("FLOWER_PORT", ports.LOOPBACK, options.flower_port),
    ):
        if problem := ports.problem(port, host):
            raise CannotStart(
                f"Port {port} cannot be used, {problem}: stop what uses it, "
                f"or choose another one: make up {variable}={port + 1}"
            )


def check_elsewhere(options: Options, programs: Sequence[object]) -> None:
    """Whether the programs of one's own repository can run for a Dure that runs elsewhere."""
    needed = {
        "DATABASE_URL": options.database_url,
        "REDIS_URL": options.redis_url,
        "DURE_SECRET_KEY": env.text("DURE_SECRET_KEY"),
    }
    if missing := [name for name, value in needed.items() if not value]:
        raise CannotStart(
            f"--only-own needs {', '.join(missing)}: the values of the Dure that runs elsewhere, in the "
            f"environment or in {options.own}/.env."
        )
    if not programs:
        raise CannotStart(f"{options.own} has no Procfile whose programs could be started.")
    check_postgres(options.database_url)
    check_redis(options.redis_url)


def check_postgres(url: str) -> None:
    try:
        psycopg2.connect(url, connect_timeout=CONNECT_SECONDS).close()
    except psycopg2.Error as error:
        raise CannotStart(f"DATABASE_URL does not answer: {first_line(error)}") from None


def check_redis(url: str) -> None:
    try:
        with connect(CHECK, url) as client:
            client.ping()
    except ERRORS as error:
        raise CannotStart(f"REDIS_URL does not answer: {first_line(error)}") from None
