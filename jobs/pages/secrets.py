"""Hides what a name says is secret, before arguments and results are shown on a screen."""

import re
from typing import Any

SECRET = re.compile(r"passw|secret|token|authorization|api_?-?key|cookie|credential", re.IGNORECASE)
HIDDEN = "••••••"


def hidden(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: HIDDEN if SECRET.search(str(key)) else hidden(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [hidden(inner) for inner in value]
    return value
