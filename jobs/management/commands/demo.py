"""Creates the users, offices and data of the demonstration; running it again does no harm."""

import inspect
import json
import os
import secrets
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import module_has_submodule

from jobs.models import ApiToken, Membership, Office
from jobs.models.access import TOKEN_PREFIX, digest_of
from jobs.states import MemberRole

VARIABLE = "DURE_DEMO_USERS"
STAFF, MEMBER = "staff", "member"
USERS = {"admin": STAFF, "alice": MEMBER, "bob": MEMBER}
TOKEN_NAME = "demo"  # noqa: S105 (what the token is called)

Secret = dict[str, str]


class Command(BaseCommand):
    help = (
        "Creates the users admin, alice and bob, an office for each of alice and bob, and example data. "
        f"Prints their passwords and tokens as JSON: new ones each time, unless {VARIABLE} or --users has "
        'them, as [{"username", "password", "token"}, …] or {"users": {"alice": {"password", "token"}, …}}.'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--users", metavar="FILE", help="read passwords and tokens from a file; - is stdin"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError("The demonstration prints passwords: it is not for production.")
        secrets_by_user = read_secrets(options["users"])
        now = timezone.now()
        with transaction.atomic():
            users = [ensure_user(name, role, secrets_by_user.get(name, {})) for name, role in USERS.items()]
            owners = {name: User.objects.get(username=name) for name, role in USERS.items() if role == MEMBER}
            offices = {name: ensure_office(owner) for name, owner in owners.items()}
        for fill in fillers():
            available = {"owner": owners["alice"], "office": offices["alice"], "now": now}
            fill(
                **{name: available[name] for name in inspect.signature(fill).parameters if name in available}
            )
        answer = {"users": users, "office_id": str(offices["alice"].id)}
        self.stdout.write(json.dumps(answer, ensure_ascii=False))


def read_secrets(file: str | None) -> dict[str, Secret]:
    if file is None:
        text = os.environ.get(VARIABLE, "")
    else:
        text = sys.stdin.read() if file == "-" else Path(file).read_text()
    if not text.strip():
        return {}
    try:
        data = json.loads(text)
        users = data["users"] if isinstance(data, dict) else data
        if isinstance(users, dict):
            return {name: dict(secret) for name, secret in users.items()}
        return {secret["username"]: dict(secret) for secret in users}
    except (ValueError, KeyError, TypeError) as error:
        raise CommandError(f"The users cannot be read: {error!r}.") from None


def ensure_user(name: str, role: str, secret: Secret) -> Secret:
    """Create the user if needed, with this password and token or with new ones."""
    password = secret.get("password") or secrets.token_urlsafe(9)
    is_staff = role == STAFF
    user, _ = User.objects.get_or_create(
        username=name, defaults={"is_staff": is_staff, "is_superuser": is_staff}
    )
    if not user.check_password(password):
        user.set_password(password)
        user.save(update_fields=["password"])
    return {
        "username": name,
        "password": password,
        "token": ensure_token(user, secret.get("token")),
        "role": role,
    }


def ensure_token(user: User, token: str | None) -> str:
    now = timezone.now()
    secret = (token or secrets.token_urlsafe(32)).removeprefix(TOKEN_PREFIX)
    same = ApiToken.objects.filter(user=user, digest=digest_of(TOKEN_PREFIX + secret)).first()
    if same is not None and same.is_alive(now):
        return TOKEN_PREFIX + secret
    # The token of the last time, which cannot be read any more.
    ApiToken.objects.filter(user=user, name=TOKEN_NAME, revoked_at=None).update(revoked_at=now)
    return ApiToken.issue(user, TOKEN_NAME, now, secret=secret)[1]


def ensure_office(owner: User) -> Office:
    name = f"{owner.get_username().capitalize()}'s office"
    office = Office.objects.filter(name=name, memberships__user=owner).first()
    if office is None:
        office = Office.objects.create(name=name)
        Membership.objects.create(office=office, user=owner, role=MemberRole.OWNER)
    return office


def fillers() -> Iterator[Callable[..., object]]:
    """The function `fill(owner, office, now)` in the module `demo` of each app that has one."""
    for app in apps.get_app_configs():
        if app.module is not None and module_has_submodule(app.module, "demo"):
            fill = getattr(import_module(f"{app.name}.demo"), "fill", None)
            if fill is not None:
                yield fill
