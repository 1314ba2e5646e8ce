"""Issues, lists and revokes API tokens."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from jobs.models.access import ApiToken


class Command(BaseCommand):
    help = "Issues an API token for a user and prints it: it cannot be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the user's name")
        parser.add_argument("--name", default="command line", help="what the token is for")
        parser.add_argument("--days", type=int, help="how long it is valid; for ever without this")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--list", action="store_true", help="show the user's tokens instead")
        what.add_argument("--revoke", metavar="PREFIX", help="end the token that begins so, instead")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['user']!r}.")
        if options["list"]:
            self._list(user)
        elif options["revoke"]:
            self._revoke(user, options["revoke"])
        else:
            self._issue(user, options["name"], options["days"])

    def _issue(self, user: User, name: str, days: int | None) -> None:
        if days is not None and not 1 <= days <= 36_500:
            raise CommandError("--days must be between 1 and 36500.")
        if not 1 <= len(name) <= 100:
            raise CommandError("--name must have 1 to 100 characters.")
        now = timezone.now()
        _, plain = ApiToken.issue(user, name, now, expires_at=now + timedelta(days=days) if days else None)
        self.stdout.write(plain)

    def _list(self, user: User) -> None:
        now = timezone.now()
        for token in ApiToken.objects.filter(user=user):
            state = "alive" if token.is_alive(now) else "ended"
            used = (
                f"{timezone.localtime(token.last_used_at):%Y-%m-%d %H:%M}" if token.last_used_at else "never"
            )
            self.stdout.write(f"{token.prefix}…  {state}  last used {used}  {token.name}")

    def _revoke(self, user: User, prefix: str) -> None:
        found = ApiToken.objects.filter(user=user, prefix=prefix.rstrip("…"), revoked_at=None)
        if found.count() != 1:
            raise CommandError(
                f"{found.count()} living tokens of {user} begin with {prefix!r}; --list shows all."
            )
        found.update(revoked_at=timezone.now())
        self.stdout.write("revoked")
