"""Issues, lists and revokes API tokens."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from jobs import tokens
from jobs.actors import Actor, act_as
from jobs.cli.command import login_name
from jobs.display import local_time
from jobs.models.access import ApiToken
from jobs.states import Surface


class Command(BaseCommand):
    help = "Issues an API token for a user and prints it; it cannot be printed again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the user's name")
        parser.add_argument("--name", default="command line", help="what the token is for")
        parser.add_argument("--days", type=int, help="days until it expires; without this it does not")
        action = parser.add_mutually_exclusive_group()
        action.add_argument("--list", action="store_true", help="list the user's tokens instead")
        action.add_argument("--revoke", metavar="PREFIX", help="revoke the token with this prefix instead")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['user']!r}.")
        with act_as(Actor(Surface.COMMAND, login_name())):
            if options["list"]:
                self._list(user)
            elif options["revoke"]:
                self._revoke(user, options["revoke"])
            else:
                self._issue(user, options["name"], options["days"])

    def _issue(self, user: User, name: str, days: int | None) -> None:
        if days is not None and not 1 <= days <= tokens.MOST_DAYS:
            raise CommandError(f"--days must be between 1 and {tokens.MOST_DAYS}.")
        if not 1 <= len(name) <= tokens.LONGEST_NAME:
            raise CommandError(f"--name must have 1 to {tokens.LONGEST_NAME} characters.")
        self.stdout.write(tokens.issue(user, name, days))

    def _list(self, user: User) -> None:
        now = timezone.now()
        for token in ApiToken.objects.filter(user=user):
            state = "active" if token.is_alive(now) else "inactive"
            used = local_time(token.last_used_at) or "never"
            self.stdout.write(f"{token.prefix}…  {state}  last used {used}  {token.name}")

    def _revoke(self, user: User, prefix: str) -> None:
        active = ApiToken.objects.filter(user=user, prefix=prefix.rstrip("…"), revoked_at=None)
        if active.count() != 1:
            raise CommandError(
                f"{active.count()} active tokens of {user} begin with {prefix!r}; --list shows all."
            )
        tokens.revoke(active)
        self.stdout.write("revoked")
