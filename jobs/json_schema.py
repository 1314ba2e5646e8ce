"""Checks JSON against a JSON Schema, with the texts that pydantic's errors have elsewhere.

Patterns are matched in linear time, and nothing is ever fetched.
"""

from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError, ValidationErrorKind
from pydantic import AnyUrl, TypeAdapter
from pydantic import ValidationError as PydanticError

from jobs.errors import ErrorText, FieldErrors
from jobs.texts import first_line

LONGEST_TEXT = 300
# Pydantic's names of JSON's types and formats: what a client has always read in an answer.
KINDS = {
    "integer": "int",
    "number": "float",
    "string": "string",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
    "null": "none",
    "date-time": "datetime",
    "uri": "url",
}
# What pydantic accepts for the schemas that it writes, which is more than the standard of the format does.
FORMATS = {
    "date-time": datetime,
    "date": date,
    "time": time,
    "duration": timedelta,
    "uuid": UUID,
    "uri": AnyUrl,
}
# The keywords of a limit, with our code.
LIMITS = {
    "minimum": "at_least",
    "maximum": "at_most",
    "exclusiveMinimum": "greater_than",
    "exclusiveMaximum": "less_than",
    "minLength": "too_short",
    "minItems": "too_short",
    "minProperties": "too_short",
    "maxLength": "too_long",
    "maxItems": "too_long",
    "maxProperties": "too_long",
}
Kind = ValidationErrorKind


class UnusableSchema(ValueError):
    """This is no JSON Schema, or one that cannot be checked here."""


def check_syntax(schema: Any) -> None:
    """Raises UnusableSchema unless this follows the specification of JSON Schema."""
    try:
        _SPECIFICATION.validate(schema)
    except ValidationError as error:
        raise UnusableSchema(error.message[:LONGEST_TEXT]) from None


class Schema:
    """A compiled JSON Schema. `unknown` is the code for a property that it does not allow."""

    def __init__(self, schema: Any, *, unknown: str = "unknown_field") -> None:
        self._unknown = unknown
        try:
            self._validator = Draft202012Validator(
                schema,
                formats=_FORMATS,
                validate_formats=True,
                pattern_options=RegexOptions(),
                offline=True,
            )
        except ValueError as error:
            raise UnusableSchema(first_line(error)[:LONGEST_TEXT]) from None

    def errors(self, value: Any) -> FieldErrors:
        """What does not fit, by the dotted path of the value."""
        errors: FieldErrors = {}
        for error in self._validator.iter_errors(value):
            for path, text in self._describe(error):
                texts = errors.setdefault(".".join(map(str, path)), [])
                if text not in texts:
                    texts.append(text)
        return errors

    def _describe(self, error: ValidationError) -> Iterator[tuple[list[str | int], ErrorText]]:
        path, kind = error.instance_path, error.kind
        match kind:
            case Kind.Required(name):
                yield [*path, str(name)], ErrorText("required")
            case Kind.AdditionalProperties(names) | Kind.UnevaluatedProperties(names):
                for name in names:
                    yield [*path, name], ErrorText("unknown_field" if path else self._unknown)
            case Kind.AnyOf(options) | Kind.OneOfNotValid(options):
                yield from self._describe_options(path, options)
            case _:
                yield path, _text_of(error)

    def _describe_options(
        self, path: list[str | int], options: list[list[ValidationError]]
    ) -> Iterator[tuple[list[str | int], ErrorText]]:
        """The errors of the one option of the value's type; else the types of all options."""
        types = [_own_type(path, option) for option in options]
        of_its_type = [option for option, name in zip(options, types, strict=True) if name is None]
        if len(of_its_type) == 1:
            for error in of_its_type[0]:
                yield from self._describe(error)
        elif of_its_type:
            yield path, ErrorText("no_option")
        else:
            names = dict.fromkeys(name for name in types if name and name != KINDS["null"])
            yield path, ErrorText("wrong_type", type=" or ".join(names))


def _own_type(path: list[str | int], option: list[ValidationError]) -> str | None:
    """The type that an option requires, if the value has another one."""
    for error in option:
        if isinstance(error.kind, Kind.Type) and error.instance_path == path:
            return _names(error.kind.types)
    return None


def _names(types: list[str]) -> str:
    return " or ".join(KINDS.get(name, name) for name in types)


def _text_of(error: ValidationError) -> ErrorText:
    kind = error.kind
    if kind.name in LIMITS:
        return ErrorText(LIMITS[kind.name], limit=kind.value)
    match kind:
        case Kind.Type(types):
            return ErrorText("wrong_type", type=_names(types))
        case Kind.Enum(options):
            return ErrorText("one_of", limit=_join(options))
        case Kind.Constant(value):
            return ErrorText("one_of", limit=_join([value]))
        case Kind.Pattern(pattern):
            return ErrorText("pattern", limit=pattern)
        case Kind.MultipleOf(number):
            return ErrorText("multiple_of", limit=number)
        case Kind.Format(name):
            return ErrorText("wrong_type", type=_names([name]))
    return ErrorText("other", text=error.message[:LONGEST_TEXT])


def _join(values: list[Any]) -> str:
    """As pydantic lists them: 'a', 'b' or 'c'."""
    *others, last = map(repr, values)
    return f"{', '.join(others)} or {last}" if others else last


def _checks(kind: Any) -> Callable[[object], bool]:
    adapter = TypeAdapter(kind)

    def fits(value: object) -> bool:
        try:
            adapter.validate_python(value)
        except PydanticError:
            return False
        return True

    return fits


_FORMATS = {name: _checks(kind) for name, kind in FORMATS.items()}
# The schema of all schemas, which the library contains.
_SPECIFICATION = Draft202012Validator({"$ref": "https://json-schema.org/draft/2020-12/schema"}, offline=True)
