"""Arguments that several commands take, and the exit codes."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dure.client import Client

DONE, FAILED, USAGE, REFUSED, UNFINISHED, INTERRUPTED = 0, 1, 2, 3, 4, 130

Options = argparse.Namespace
# What `add_subparsers` returns has no public name.
Parsers = Any


def command(
    parsers: Parsers, name: str, run: Callable[[Options, Client], int], text: str, *, example: str = ""
) -> argparse.ArgumentParser:
    """Adds a command that calls the API."""

    def run_with_client(options: Options) -> int:
        with Client(office=options.office) as client:
            return run(options, client)

    return command_without_client(parsers, name, run_with_client, text, example=example)


def command_without_client(
    parsers: Parsers, name: str, run: Callable[[Options], int], text: str, *, example: str = ""
) -> argparse.ArgumentParser:
    """Adds a command, with what all of them take."""
    parser: argparse.ArgumentParser = parsers.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog=f"example:\n  {example}" if example else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print what the API answers, as JSON")
    parser.add_argument("--office", help="the office, by id or name; default: the one of `dure login`")
    parser.set_defaults(run=run)
    return parser


def group(parsers: Parsers, name: str, text: str) -> Parsers:
    parser = parsers.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    return parser.add_subparsers(title="commands", metavar="COMMAND", required=True)


def add_limit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=positive, default=50, help="how many at most; default: 50")


def add_waiting(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--wait", action="store_true", help="wait for the end; exit with 1 if it failed")
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="the longest wait; default: none")


def add_task(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help="the id of the Task, such as demo.sum")
    parser.add_argument(
        *("--arg", "-a"),
        dest="args",
        action="append",
        default=[],
        type=argument,
        metavar="NAME=JSON",
        help="an argument of the Task; repeat it for each",
    )


def argument(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=JSON")
    try:
        return name, json.loads(value)
    except ValueError as error:
        hint = f"for a text write {name}='{json.dumps(value)}'"
        raise argparse.ArgumentTypeError(f"{value!r} is not JSON ({error}); {hint}") from None


def document(text: str) -> Any:
    """JSON, or `@file` with JSON."""
    try:
        return json.loads(Path(text[1:]).read_text() if text.startswith("@") else text)
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not JSON, nor @ and a file with JSON: {error}"
        ) from None


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of seconds")
    return value
