"""The secrets of a system on somebody's own machine: random at the first start, kept in its home."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from config.embedded import CannotStart, private
from config.embedded.home import Home, read_json
from config.up.preflight import Wishes

DEMO_USERS = {"admin": "staff", "alice": "member", "bob": "member"}
FLOWER_USER = "admin"
DEMO_VARIABLE = "DURE_DEMO_USERS"


@dataclass(frozen=True)
class Secrets:
    secret_key: str
    cron_secret: str
    flower_password: str
    users: list[dict[str, str]]

    def environment(self) -> dict[str, str]:
        return {
            "DURE_SECRET_KEY": self.secret_key,
            "CRON_SECRET": self.cron_secret,
            "FLOWER_BASIC_AUTH": f"{FLOWER_USER}:{self.flower_password}",
        }

    def demo_environment(self) -> dict[str, str]:
        """For the command that makes the demo users, and for no other process."""
        return {DEMO_VARIABLE: json.dumps(self.users)}


def kept(home: Home, environment: Mapping[str, str]) -> Secrets:
    """This home's secrets; those that the environment names win, and are not written down."""
    path = home.path / "secrets.json"
    found = read_json(path)
    if found is None:
        found = _new()
        private.write_json(path, found)
    try:
        values: dict[str, Any] = dict(found)  # type: ignore[call-overload]
        flower = environment.get("FLOWER_BASIC_AUTH", "").partition(":")
        return Secrets(
            secret_key=environment.get("DURE_SECRET_KEY") or values["secret_key"],
            cron_secret=environment.get("CRON_SECRET") or values["cron_secret"],
            flower_password=flower[2] or values["flower_password"],
            users=values["users"],
        )
    except (KeyError, TypeError, ValueError):
        raise CannotStart(f"{path} is damaged: remove it to get new passwords and tokens.") from None


def publish(
    home: Home, wishes: Wishes, redis_url: str, known: Secrets, demo: dict[str, Any]
) -> dict[str, Any]:
    """Writes credentials.json, which scripts and tests read to find and enter the system."""
    credentials = {
        "base_url": wishes.base_url,
        "redis_url": redis_url,
        "cron_secret": known.cron_secret,
        "flower": {"url": wishes.flower_url, "user": FLOWER_USER, "password": known.flower_password},
        "users": demo["users"],
        "office_id": demo["office_id"],
    }
    private.write_json(home.path / "credentials.json", credentials)
    return credentials


def withdraw(home: Home) -> None:
    (home.path / "credentials.json").unlink(missing_ok=True)


def _new() -> dict[str, Any]:
    return {
        "secret_key": secrets.token_urlsafe(48),
        "cron_secret": secrets.token_urlsafe(24),
        "flower_password": secrets.token_urlsafe(12),
        "users": [
            {
                "username": name,
                "password": secrets.token_urlsafe(9),
                "token": secrets.token_urlsafe(32),
                "role": role,
            }
            for name, role in DEMO_USERS.items()
        ],
    }
