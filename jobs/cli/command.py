"""The base of the commands `jobs`, `executions` and `schedules`: subcommands, options and exit codes."""

import argparse
import getpass
import json
import os
import sys
from argparse import ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser, DjangoHelpFormatter
from django.db import DatabaseError, InterfaceError

from dure.roles import is_role
from jobs.actors import Actor, act_as
from jobs.errors import Refused
from jobs.field_types import LONGEST_REASON
from jobs.states import Surface
from jobs.texts import first_line, on_one_line

DONE, NOT_ALL, WRONG, INTERRUPTED = 0, 1, 2, 130
EXIT_CODES = """exit codes:
  0  done
  1  nothing matched, something was refused, or the database does not answer
  2  wrong usage"""
MOST_SHOWN = 1_000
USUALLY_SHOWN = 50
LONGEST_ACTOR = 150
LIST = "list"

# A subcommand takes the options and returns the exit code.
Subcommand = Callable[[dict[str, Any]], int]


class Complaint(Exception):
    """Ends the command with a line on stderr and an exit code."""

    def __init__(self, message: str, code: int = WRONG) -> None:
        super().__init__(message)
        self.code = code


class Formatter(RawDescriptionHelpFormatter, DjangoHelpFormatter):
    """Keeps the line breaks of the exit codes."""


class Console(BaseCommand):
    """A command with subcommands; without one it lists."""

    # The checks take a second and find nothing that matters here.
    requires_system_checks: list[str] = []
    suppressed_base_arguments = {"--version", "--settings", "--pythonpath", "--traceback"}

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(
            prog_name, subcommand, epilog=EXIT_CODES, formatter_class=Formatter, **kwargs
        )

    def add_arguments(self, parser: CommandParser) -> None:
        self.parts = parser.add_subparsers(metavar="WHAT", title="what to do", required=True)
        self.add_parts()

    def add_parts(self) -> None:
        raise NotImplementedError

    def part(self, name: str, act: Subcommand, help: str) -> CommandParser:
        added: CommandParser = self.parts.add_parser(
            name, help=help, description=help, epilog=EXIT_CODES, formatter_class=Formatter
        )
        added.add_argument("--json", action="store_true", help="print JSON, as the API does")
        added.set_defaults(act=act)
        return added

    def run_from_argv(self, argv: list[str]) -> None:
        first = argv[2:3]
        if not first or (first[0].startswith("-") and first[0] not in ("-h", "--help")):
            argv = [*argv[:2], LIST, *argv[2:]]
        super().run_from_argv(argv)

    def handle(self, *args: Any, **options: Any) -> None:
        self.as_json = options["json"]
        try:
            with act_as(Actor(Surface.COMMAND, options.get("actor") or login_name())):
                code = options["act"](options)
            self.stdout.flush()
        except Complaint as complaint:
            code = self.write_error(str(complaint), complaint.code)
        except Refused as refused:
            code = self.write_error(str(refused), NOT_ALL)
        except (DatabaseError, InterfaceError) as error:
            code = self.write_error(f"The database does not answer: {first_line(error)}", NOT_ALL)
        except KeyboardInterrupt:
            code = self.write_error("Interrupted: what was changed until now stays changed.", INTERRUPTED)
        except BrokenPipeError:
            # `| head` has read enough; Python would raise once more when it exits.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = DONE
        if code:
            raise SystemExit(code)

    def write_error(self, text: str, code: int) -> int:
        self.stderr.write(on_one_line(text))
        return code

    def show(self, document: object, lines: Sequence[str]) -> None:
        """Print the document with --json, else the lines."""
        if self.as_json:
            self.stdout.write(json.dumps(document, ensure_ascii=False, indent=2))
        else:
            self.stdout.write("\n".join(map(on_one_line, lines)))

    def show_rows(self, document: dict[str, Any], lines: Sequence[str], thing: str) -> None:
        """Print a list. If it is cut, `more` in the document is true, and a last line says so."""
        count = len(document["results"])
        if not count:
            lines = [f"No {thing} matches."]
        elif document["more"]:
            lines = [
                *lines,
                f"There are more: these are the newest {count}. --limit prints up to {MOST_SHOWN}.",
            ]
        self.show(document, lines)


def add_author(parser: CommandParser) -> None:
    parser.add_argument(
        "--actor",
        type=limited_text(LONGEST_ACTOR),
        default=login_name(),
        help="who does it, for the activity log (default: %(default)s)",
    )
    parser.add_argument(
        "--reason", type=limited_text(LONGEST_REASON), default="", help="why, for the activity log"
    )


def add_limit(parser: CommandParser) -> None:
    parser.add_argument(
        "--limit",
        type=whole_number(1, MOST_SHOWN),
        default=USUALLY_SHOWN,
        metavar="N",
        help=f"how many, the newest first (default: {USUALLY_SHOWN}, at most {MOST_SHOWN})",
    )


def login_name() -> str:
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError, ImportError):
        # A container's account may have a number and no name.
        return f"cli:{os.getuid()}"


def limited_text(most: int) -> Callable[[str], str]:
    def check(text: str) -> str:
        if len(text) > most:
            raise ArgumentTypeError(f"has {len(text)} characters, more than {most}")
        return text

    return check


def whole_number(low: int, high: int) -> Callable[[str], int]:
    def check(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise ArgumentTypeError(f"{text!r} is not a whole number") from None
        if not low <= number <= high:
            raise ArgumentTypeError(f"{number} is not between {low} and {high}")
        return number

    return check


def one_of(allowed: Sequence[str]) -> Callable[[str], list[str]]:
    """Words separated by commas, in upper or lower case."""
    by_lower = {word.lower(): str(word) for word in allowed}

    def check(text: str) -> list[str]:
        words = [word.strip() for word in text.split(",") if word.strip()]
        if unknown := [word for word in words if word.lower() not in by_lower]:
            raise ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(allowed)}")
        return [by_lower[word.lower()] for word in words]

    return check


def role_names(text: str) -> list[str]:
    spellings = {role.lower(): role for role in settings.DURE_ROLES}
    names = [spellings.get(name.strip().lower(), name.strip()) for name in text.split(",") if name.strip()]
    if wrong := [name for name in names if not is_role(name)]:
        raise ArgumentTypeError(f"{wrong[0]!r} is not the name of a role")
    return names


def add_roles(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--role",
        type=role_names,
        action="extend",
        default=[],
        metavar="ROLE",
        help=f"roles, such as {', '.join(settings.DURE_ROLES)}; several with commas",
    )


def add_choices(parser: argparse.ArgumentParser, name: str, allowed: Sequence[str], help: str) -> None:
    """Add an option that takes several of the allowed words, with commas or repeated."""
    parser.add_argument(
        name,
        type=one_of(allowed),
        action="extend",
        default=[],
        metavar=name.lstrip("-").upper(),
        help=f"{help}: {', '.join(allowed)}; several with commas",
    )
