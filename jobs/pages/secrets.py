"""What is secret by its name is hidden before a value is shown, and put back into what was edited."""

import re
from typing import Any

from jobs.errors import ErrorText

SECRET = re.compile(r"passw|secret|token|authorization|api_?-?key|cookie|credential", re.IGNORECASE)
HIDDEN = "••••••"
HIDDEN_AGAIN = ErrorText("hidden_value")


def hidden(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: HIDDEN if SECRET.search(str(key)) else hidden(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [hidden(inner) for inner in value]
    return value


def restored(given: Any, before: Any) -> Any:
    """What was given, with the secrets that stood in the same place before."""
    if isinstance(given, dict) and isinstance(before, dict):
        return {
            key: before[key] if value == HIDDEN and key in before else restored(value, before.get(key))
            for key, value in given.items()
        }
    if isinstance(given, list) and isinstance(before, list):
        return [restored(value, _same(value, place, before)) for place, value in enumerate(given)]
    return given


def _same(value: Any, place: int, before: list[Any]) -> Any:
    """A step is known by its ref, wherever it has moved to; everything else by its place."""
    if isinstance(value, dict) and "ref" in value:
        found = (one for one in before if isinstance(one, dict) and one.get("ref") == value["ref"])
        return next(found, None)
    return before[place] if place < len(before) else None


def still_hides(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(still_hides, value.values()))
    if isinstance(value, list):
        return any(map(still_hides, value))
    return bool(value == HIDDEN)
