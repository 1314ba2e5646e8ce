"""Reads what the environment asks for and refuses, before anything is started, what cannot work."""

from dataclasses import dataclass
from pathlib import Path

from config import env
from config.embedded import CannotStart, ports
from config.embedded.home import unusable

CHECKOUT = Path(__file__).resolve().parents[2]
EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104


@dataclass(frozen=True)
class Wishes:
    home: Path
    host: str
    port: int
    flower_port: int
    database_url: str
    redis_url: str

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


def read() -> Wishes:
    """Every variable is read by the settings too, which name the first one that is malformed."""
    try:
        from config import settings
    except PermissionError as error:  # they look there for the servers that run
        raise CannotStart(unusable(env.folder("DURE_HOME", CHECKOUT / "var"), error)) from None

    if settings.PRODUCTION:
        raise CannotStart(
            "`make up` is for trying out and developing: it makes demo users. "
            "In production run the commands of the Procfile, each as its own service."
        )
    wishes = Wishes(
        home=settings.DURE_HOME,
        host=env.text("HOST", ports.LOOPBACK),
        port=settings.PORT,
        flower_port=env.integer("FLOWER_PORT", 5555, low=1, high=65_535),
        database_url=env.text("DATABASE_URL"),
        redis_url=env.text("REDIS_URL"),
    )
    if wishes.port == wishes.flower_port:
        raise CannotStart(f"PORT and FLOWER_PORT are both {wishes.port}: give one of them another number.")
    return wishes


def check_ports(wishes: Wishes) -> None:
    if not ports.is_ours(wishes.host):
        raise CannotStart(
            f"HOST={wishes.host} is no address of this machine: use 127.0.0.1, or 0.0.0.0 for all."
        )
    wanted = (
        ("PORT", wishes.host, wishes.port),
        ("FLOWER_PORT", ports.LOOPBACK, wishes.flower_port),
    )
    for variable, host, port in wanted:
        if problem := ports.problem(port, host):
            raise CannotStart(
                f"Port {port} cannot be used, {problem}: stop what uses it, "
                f"or choose another one: make up {variable}={port + 1}"
            )
