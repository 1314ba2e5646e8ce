"""Creates or removes the users, offices and data of the demonstration; running it again does no harm."""

import inspect
import json
import os
import secrets
import sys
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.module_loading import module_has_submodule

from jobs import bulk, offices
from jobs.errors import Conflict, in_english
from jobs.models import ApiToken, Office
from jobs.models.access import TOKEN_PREFIX, digest_of
from jobs.office_deletion import delete_office

VARIABLE = "DURE_DEMO_USERS"
STAFF, MEMBER = "staff", "member"
ADMIN = "admin"
USERS = {ADMIN: STAFF, "alice": MEMBER, "bob": MEMBER}
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
        parts = parser.add_mutually_exclusive_group()
        parts.add_argument("--admin-only", action="store_true", help="create the user admin and nothing else")
        parts.add_argument(
            "--remove",
            action="store_true",
            help="delete alice and bob with all that they own, and the offices of both",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError("The demonstration prints passwords: it is not for production.")
        if options["remove"]:
            self.stdout.write(remove())
            return
        secrets_by_user = read_secrets(options["users"])
        if options["admin_only"]:
            admin = ensure_user(ADMIN, STAFF, secrets_by_user.get(ADMIN, {}))
            self.answer([admin], None)
            return
        now = timezone.now()
        with transaction.atomic():
            users = [ensure_user(name, role, secrets_by_user.get(name, {})) for name, role in USERS.items()]
            owners = {name: User.objects.get(username=name) for name, role in USERS.items() if role == MEMBER}
            owned = {name: ensure_office(owner) for name, owner in owners.items()}
        call_in_apps("fill", owner=owners["alice"], office=owned["alice"], now=now)
        self.answer(users, str(owned["alice"].id))

    def answer(self, users: list[Secret], office_id: str | None) -> None:
        self.stdout.write(json.dumps({"users": users, "office_id": office_id}, ensure_ascii=False))


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
    return demo_offices(owner).first() or offices.create(owner, office_name(owner))


def office_name(owner: User) -> str:
    return f"{owner.get_username().capitalize()}'s office"


def demo_offices(owner: User) -> QuerySet[Office]:
    return Office.objects.filter(name=office_name(owner), memberships__user=owner)


def remove() -> str:
    """Delete what the demonstration owns, in an order in which a second call finishes what one could not."""
    members = User.objects.filter(username__in=[name for name, role in USERS.items() if role == MEMBER])
    try:
        for owner in members:
            for office in demo_offices(owner):
                bulk.cancel_matching(office.id, actor=ADMIN, reason="The demonstration is removed.")
                delete_office(office.id)
            call_in_apps("remove", owner=owner, now=timezone.now())
    except Conflict as running:
        raise CommandError(f"{in_english(running)} Try again in a moment.") from None
    names = sorted(members.values_list("username", flat=True))
    members.delete()
    return f"Removed the demonstration of {' and '.join(names)}." if names else "There is no demonstration."


def call_in_apps(name: str, **available: object) -> None:
    """Call the function of this name in each app's module `demo`, with those arguments that it takes."""
    for app in apps.get_app_configs():
        if app.module is not None and module_has_submodule(app.module, "demo"):
            function = getattr(import_module(f"{app.name}.demo"), name, None)
            if function is not None:
                parameters = inspect.signature(function).parameters
                function(**{key: available[key] for key in parameters if key in available})
