"""The secrets of a development system: random at the first start, and kept in its home."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from config.dev import CREDENTIALS, CannotStart
from config.dev.home import Home, read_json, write_private_json
from config.dev.options import Options

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
        """The environment of the command that creates the demo users; no other process gets it."""
        return {DEMO_VARIABLE: json.dumps(self.users)}


def load(home: Path, environment: Mapping[str, str]) -> Secrets:
    """The secrets of this home. Those in the environment take precedence, and are not stored."""
    path = home / "secrets.json"
    stored = read_json(path)
    if stored is None:
        stored = _generate()
        write_private_json(path, stored)
    try:
        values: dict[str, Any] = dict(stored)  # type: ignore[call-overload]
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
    home: Home, options: Options, redis_url: str, secrets: Secrets, demo: dict[str, Any]
) -> dict[str, Any]:
    """Writes credentials.json, which scripts and tests read to reach the system and sign in."""
    credentials = {
        "base_url": options.base_url,
        "redis_url": redis_url,
        "cron_secret": secrets.cron_secret,
        "flower": {"url": options.flower_url, "user": FLOWER_USER, "password": secrets.flower_password},
        "users": demo["users"],
        "office_id": demo["office_id"],
    }
    write_private_json(home.path / CREDENTIALS, credentials)
    return credentials


def read_demo(text: str) -> dict[str, Any]:
    try:
        demo = json.loads(text)
        return {"users": demo["users"], "office_id": demo["office_id"]}
    except (ValueError, KeyError, TypeError):
        raise CannotStart("`manage.py demo` did not answer with its users and office.") from None


def read_published(home: Path) -> dict[str, Any] | None:
    """What the running system has published; None if it is not ready."""
    credentials = read_json(home / CREDENTIALS)
    return credentials if isinstance(credentials, dict) else None


def remove(home: Home) -> None:
    (home.path / CREDENTIALS).unlink(missing_ok=True)


def _generate() -> dict[str, Any]:
    return {
        "secret_key": token_urlsafe(48),
        "cron_secret": token_urlsafe(24),
        "flower_password": token_urlsafe(12),
        "users": [
            {
                "username": name,
                "password": token_urlsafe(9),
                "token": token_urlsafe(32),
                "role": role,
            }
            for name, role in DEMO_USERS.items()
        ],
    }
