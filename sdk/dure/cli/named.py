"""The commands about one schedule or workflow, which the user names by its id or its name."""

import argparse
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from dure.cli.arguments import Options, Parsers, add_limit, command
from dure.cli.output import write_list, write_record, write_text
from dure.client import Client
from dure.errors import ConfigurationError
from dure.schedule_records import Schedule, Workflow

R = TypeVar("R", Schedule, Workflow)


class NamedCommands(Generic[R]):
    def __init__(
        self,
        parsers: Parsers,
        noun: str,
        read: Callable[[Options, Client, int], list[R]],
        columns: Sequence[str],
        example: str = "",
    ) -> None:
        """`read` takes the largest number of rows. In the example, the verb takes the place of `{}`."""
        self._parsers, self._noun, self._columns, self._example = parsers, noun, columns, example
        self._read: Callable[[Options, Client, int], list[R]] = read

    def add_list(self) -> None:
        def run(options: Options, client: Client) -> int:
            return write_list(options, self._read(options, client, options.limit), self._columns)

        add_limit(command(self._parsers, "list", run, f"list {self._noun}s"))

    def add(
        self, verb: str, run: Callable[[Options, Client, R], int], text: str, *, example: str = ""
    ) -> argparse.ArgumentParser:
        def find_and_run(options: Options, client: Client) -> int:
            return run(options, client, self._find(options, client))

        example = example or self._example.format(verb)
        parser = command(self._parsers, verb, find_and_run, text, example=example)
        parser.add_argument("id_or_name", metavar=self._noun.upper(), help="its id or name")
        return parser

    def add_show(self) -> None:
        self.add("show", lambda options, _client, row: write_record(options, row), f"show a {self._noun}")

    def add_change(self, verb: str, change: Callable[[Client, R], R], text: str) -> None:
        def run(options: Options, client: Client, row: R) -> int:
            return write_record(options, change(client, row), self._columns)

        self.add(verb, run, text)

    def add_delete(self, delete: Callable[[Client, R], None], text: str) -> None:
        def run(options: Options, client: Client, row: R) -> int:
            delete(client, row)
            return write_text(options, f"{row.id} is deleted.", {"id": row.id})

        self.add("delete", run, text)

    def _find(self, options: Options, client: Client) -> R:
        named = options.id_or_name
        matches = [row for row in self._read(options, client, 10_000) if named in (row.id, row.name)]
        if len(matches) != 1:
            number = f"{len(matches)}" if matches else "No one"
            raise ConfigurationError(f"{number} has the id or name {named!r}.")
        return matches[0]
