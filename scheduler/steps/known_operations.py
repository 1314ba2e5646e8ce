"""What every process knows of an operation: all but its function. Workers write it into the catalogue."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

from dure.step_operations import own_arguments
from jobs.errors import ErrorText
from jobs.json_schema import Schema
from jobs.known_tasks import in_fields

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
        return cls(**{name: value for name, value in values.items() if name in cls.field_names()})

    @staticmethod
    def field_names() -> list[str]:
        return [each.name for each in fields(KnownOperation)]

    def values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.field_names()}

    @cached_property
    def _arguments(self) -> Schema:
        return Schema(self.schema, unknown="unknown_argument")

    @property
    def argument_names(self) -> list[str]:
        return list(self.schema.get("properties", ()))

    def argument_problems(self, arguments: object) -> list[ErrorText]:
        return [
            ErrorText("operation_argument", operation=self.name, text=text)
            for text in in_fields(self._arguments.errors(own_arguments(self.argument_names, arguments)))
        ]
