"""Asks whoever sits at the terminal whether they mean it."""

import sys

from django.core.management.base import CommandParser

from jobs.cli.command import NOT_ALL, Complaint
from jobs.cli.table import harmless


def add_consent(parser: CommandParser, things: str) -> None:
    parser.add_argument(
        "--all", action="store_true", help=f"all {things} there are, where no filter is given"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be done and skipped; do nothing"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask before changing all that match")


def make_sure(question: str, word: str, *, sure: bool) -> None:
    """Ends the command unless `--yes` was given, or the word is typed on a terminal."""
    if sure:
        return
    if not sys.stdin.isatty():
        raise Complaint(f"{question}: say --yes to do it, or --dry-run to see more.")
    # On stderr, so that what the command answers can go into a file.
    sys.stderr.write(f"{harmless(question)}.\nType {word} to go on: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip() != word:
        raise Complaint("Nothing was changed.", NOT_ALL)


def counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
