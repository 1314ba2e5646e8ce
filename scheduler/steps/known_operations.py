"""What every process knows of an operation: all but its function. Workers write it into the catalogue."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

from jobs.errors import ErrorText
from jobs.json_schema import Schema
from jobs.known_tasks import in_fields
from scheduler.steps.states import EMPTY_ARGS

# The kind of its entries in the catalogue.
OPERATION = "operation"


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownOperation:
    """An operation as its author declared it. The fields are what a worker writes into the catalogue."""

    library: str
    name: str
    role: str = "default"
    description: str = ""
    library_description: str = ""
    # The JSON Schema of the arguments.
    schema: Mapping[str, Any]
    # Retries of a backward operation; None means the setting's default.
    max_retries: int | None = None

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        names = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in names})

    def values(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(KnownOperation)}

    @cached_property
    def _arguments(self) -> Schema:
        return Schema(self.schema, unknown="unknown_argument")

    @property
    def argument_names(self) -> list[str]:
        return list(self.schema.get("properties", ()))

    def own_arguments(self, arguments: object) -> dict[str, Any]:
        """Both operations of a job receive the same arguments; each takes those that it names.

        A list has them in the order of the function's parameters; any other value is the first of them.
        """
        if arguments == EMPTY_ARGS:
            return {}
        names = self.argument_names
        if isinstance(arguments, Mapping):
            return {name: value for name, value in arguments.items() if name in names}
        values = arguments if isinstance(arguments, list) else [arguments]
        return dict(zip(names, values, strict=False))

    def argument_problems(self, arguments: object) -> list[ErrorText]:
        return [
            ErrorText("operation_argument", operation=self.name, text=text)
            for text in in_fields(self._arguments.errors(self.own_arguments(arguments)))
        ]
