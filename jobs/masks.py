"""Masks for the secrets in JSON that people see or edit; their names tell which values are secret."""

import re
from typing import Any

from jobs.errors import ErrorText

SECRET = re.compile(r"passw|secret|token|authorization|api_?-?key|cookie|credential", re.IGNORECASE)
MASK = "••••••"
MASK_MOVED = ErrorText("hidden_value")


def mask_secrets(value: Any) -> Any:
    """The same JSON value with a mask for everything whose name says that it is secret."""
    if isinstance(value, dict):
        return {key: MASK if SECRET.search(str(key)) else mask_secrets(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [mask_secrets(inner) for inner in value]
    return value


def restore_secrets(edited: Any, before: Any) -> Any:
    """An edited value, with the secrets that stood behind its masks before."""
    if isinstance(edited, dict) and isinstance(before, dict):
        return {
            key: before[key] if value == MASK and key in before else restore_secrets(value, before.get(key))
            for key, value in edited.items()
        }
    if isinstance(edited, list) and isinstance(before, list):
        renamed = _renamed_step(edited, before)
        return [
            restore_secrets(value, _counterpart(value, index, before, renamed))
            for index, value in enumerate(edited)
        ]
    return edited


def _counterpart(value: Any, index: int, before: list[Any], renamed: Any) -> Any:
    """A step is recognised by its ref, wherever it has moved to; everything else by its position."""
    if isinstance(value, dict) and "ref" in value:
        same = (other for other in before if isinstance(other, dict) and other.get("ref") == value["ref"])
        return next(same, renamed)
    return before[index] if index < len(before) else None


def _renamed_step(edited: list[Any], before: list[Any]) -> Any:
    """The step that a new ref stands for: the one whose ref is missing, if it is the only one."""
    missing = _by_ref(before)
    for ref in _by_ref(edited):
        missing.pop(ref, None)
    return next(iter(missing.values())) if len(missing) == 1 else None


def _by_ref(values: list[Any]) -> dict[str, Any]:
    named = [value for value in values if isinstance(value, dict) and isinstance(value.get("ref"), str)]
    return {value["ref"]: value for value in named}


def has_mask(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(has_mask, value.values()))
    if isinstance(value, list):
        return any(map(has_mask, value))
    return bool(value == MASK)
