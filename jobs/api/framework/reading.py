"""Reads a request into a pydantic model, with the errors of a DRF serializer."""

from copy import copy
from functools import cache
from typing import Any, TypeVar

import pydantic
from rest_framework.exceptions import ValidationError

from jobs.api_model import ApiIn, whole
from jobs.errors import CodedError

M = TypeVar("M", bound=ApiIn)

# By pydantic's type of an error: the JSON type that the field of an object takes.
_TYPES = {
    "bool_type": "true or false",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "literal_error": "a text",
    "string_type": "a text",
    "uuid_type": "a text",
}
_TEXTS = {
    "bool_type": "Must be a valid boolean.",
    "dict_type": 'Expected a dictionary of items but got type "{type}".',
    "greater_than_equal": "Ensure this value is greater than or equal to {ge}.",
    "int_from_float": "A valid integer is required.",
    "int_type": "A valid integer is required.",
    "less_than_equal": "Ensure this value is less than or equal to {le}.",
    "literal_error": '"{value}" is not a valid choice.',
    "missing": "This field is required.",
    "model_type": "Invalid data. Expected a dictionary, but got {type}.",
    "string_too_long": "Ensure this field has no more than {max_length} characters.",
    "string_too_short": "This field may not be blank.",
    "string_type": "Not a valid string.",
    "too_long": "Ensure this field has no more than {max_length} elements.",
    "uuid_parsing": "Must be a valid UUID.",
    "uuid_type": "Must be a valid UUID.",
}


def read(model: type[M], data: Any) -> M:
    """The data of the request, or a ValidationError."""
    try:
        return model.model_validate(data)
    except pydantic.ValidationError as error:
        raise ValidationError(_errors(error.errors(include_url=False), list(data))) from None


def read_changes(model: type[ApiIn], data: Any) -> dict[str, Any]:
    """The fields of a PATCH, none of which is required."""
    changes: ApiIn = read(partial_of(model), data)
    return changes.model_dump(exclude_unset=True)


@cache
def partial_of(model: type[M]) -> type[M]:
    fields = {name: copy(field) for name, field in model.model_fields.items() if field.is_required()}
    for field in fields.values():
        field.default = None
    changes: Any = {name: (field.annotation, field) for name, field in fields.items()}
    partial = pydantic.create_model(model.__name__, __base__=model, **changes)
    partial.model_config["title"] = model.model_config.get("title") or model.__name__
    return partial


def _errors(problems: list[Any], names: list[str]) -> dict[str, Any]:
    """DRF's errors, by dotted path. Values of a wrong type are reported alone."""
    mistyped = {
        problem["loc"][0]: [f"Expected {_TYPES[problem['type']]}."]
        for problem in problems
        if len(problem["loc"]) == 1 and _is_mistyped(problem)
    }
    if mistyped:
        return {name: mistyped[name] for name in names if name in mistyped}
    errors: dict[str, Any] = {}
    for problem in problems:
        path = ".".join(map(str, problem["loc"]))
        if problem["type"] == "model_type":
            path += ".non_field_errors"
        if problem["type"] == "unknown_fields":
            sentence = f"There is no such field to set; there are: {problem['ctx']['fields']}."
            for name in problem["ctx"]["names"][:20]:
                errors[".".join(filter(None, (path, str(name)[:100])))] = [sentence]
        else:
            errors[path or "non_field_errors"] = [_text_of(problem)]
    return errors


def _is_mistyped(problem: Any) -> bool:
    value = problem["input"]
    match problem["type"]:
        case "literal_error":
            return not isinstance(value, str)
        case "int_type":
            return not isinstance(value, float | None)
    return value is not None and problem["type"] in _TYPES


def _text_of(problem: Any) -> str:
    value = problem["input"]
    if value is None and problem["type"] != "missing":
        return "This field may not be null."
    context = problem.get("ctx", {})
    if isinstance(error := context.get("error"), CodedError):
        return str(error)
    if problem["type"] not in _TEXTS:
        return str(problem["msg"])
    limits = {name: whole(limit) for name, limit in context.items()}
    return _TEXTS[problem["type"]].format(value=value, type=type(value).__name__, **limits)
