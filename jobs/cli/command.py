"""The base of the commands `jobs`, `executions` and `schedules`: its parts, its manners, its exit codes."""

import argparse
import getpass
import json
import os
import sys
from argparse import ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandParser, DjangoHelpFormatter
from django.db import DatabaseError, InterfaceError

from jobs.cli.table import harmless
from jobs.errors import Refused

DONE, NOT_ALL, WRONG, INTERRUPTED = 0, 1, 2, 130
EXIT_CODES = """exit codes:
  0  done
  1  nothing matched, something was refused, or the database does not answer
  2  wrong usage"""
MOST_SHOWN = 1_000
USUALLY_SHOWN = 50
LONGEST_REASON = 500
LONGEST_ACTOR = 150
LIST = "list"

# What a part of a command does with its options; the answer is the exit code.
Part = Callable[[dict[str, Any]], int]


class Complaint(Exception):
    """Ends the command with one line and an exit code."""

    def __init__(self, message: str, code: int = WRONG) -> None:
        super().__init__(message)
        self.code = code


class Formatter(RawDescriptionHelpFormatter, DjangoHelpFormatter):
    """Keeps the lines of the exit codes apart."""


class Console(BaseCommand):
    """A command whose first word says what to do; without one it lists."""

    # They ask the database nothing that the checks would find, and take a second.
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

    def part(self, name: str, act: Part, help: str) -> CommandParser:
        added: CommandParser = self.parts.add_parser(
            name, help=help, description=help, epilog=EXIT_CODES, formatter_class=Formatter
        )
        added.add_argument("--json", action="store_true", help="as JSON, in the shapes of the API")
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
            code = options["act"](options)
            self.stdout.flush()
        except Complaint as complaint:
            code = self.complain(str(complaint), complaint.code)
        except Refused as refused:
            code = self.complain(str(refused), NOT_ALL)
        except (DatabaseError, InterfaceError) as error:
            code = self.complain(f"The database does not answer as it should: {first_line(error)}", NOT_ALL)
        except KeyboardInterrupt:
            code = self.complain("Interrupted: what was done until now is done.", INTERRUPTED)
        except BrokenPipeError:
            # `| head` has seen enough; Python would complain of it once more at the exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = DONE
        if code:
            raise SystemExit(code)

    def complain(self, text: str, code: int) -> int:
        self.stderr.write(harmless(text))
        return code

    def show(self, document: object, lines: Sequence[str]) -> None:
        """The document for programs, or the lines for people."""
        if self.as_json:
            self.stdout.write(json.dumps(document, ensure_ascii=False, indent=2))
        else:
            self.stdout.write("\n".join(map(harmless, lines)))

    def show_rows(self, document: dict[str, Any], lines: Sequence[str], thing: str) -> None:
        """A list that may be cut: the document says so in `more`, the lines in words."""
        count = len(document["results"])
        if not count:
            lines = [f"No {thing} matches."]
        elif document["more"]:
            lines = [
                *lines,
                f"There are more: these are the newest {count}. --limit shows up to {MOST_SHOWN}.",
            ]
        self.show(document, lines)


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def add_author(parser: CommandParser) -> None:
    parser.add_argument(
        "--actor",
        type=no_longer_than(LONGEST_ACTOR),
        default=login_name(),
        help="who does it, for the events (default: %(default)s)",
    )
    parser.add_argument(
        "--reason", type=no_longer_than(LONGEST_REASON), default="", help="why, for the events"
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
        # An account of a container has a number and no name.
        return f"cli:{os.getuid()}"


def no_longer_than(most: int) -> Callable[[str], str]:
    def checked(text: str) -> str:
        if len(text) > most:
            raise ArgumentTypeError(f"has {len(text)} characters; {most} are the most")
        return text

    return checked


def whole_number(low: int, high: int) -> Callable[[str], int]:
    def checked(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise ArgumentTypeError(f"{text!r} is no whole number") from None
        if not low <= number <= high:
            raise ArgumentTypeError(f"{number} is not between {low} and {high}")
        return number

    return checked


def one_of(known: Sequence[str]) -> Callable[[str], list[str]]:
    """Words separated by commas, in any case."""
    by_lower = {word.lower(): str(word) for word in known}

    def checked(text: str) -> list[str]:
        words = [word.strip() for word in text.split(",") if word.strip()]
        if unknown := [word for word in words if word.lower() not in by_lower]:
            raise ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(known)}")
        return [by_lower[word.lower()] for word in words]

    return checked


def several(parser: argparse.ArgumentParser, name: str, known: Sequence[str], help: str) -> None:
    """An option that takes several of the known words, by commas or given again."""
    parser.add_argument(
        name,
        type=one_of(known),
        action="extend",
        default=[],
        metavar=name.lstrip("-").upper(),
        help=f"{help}: {', '.join(known)}; several with commas",
    )
