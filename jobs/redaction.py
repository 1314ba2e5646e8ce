"""Removes credentials from texts: log lines, tracebacks, and what runs print."""

import re
from collections.abc import Iterator
from typing import Any

from jobs.masks import SECRET

# Shorter values, such as a flag or a number, occur in texts that have nothing to do with them.
SHORTEST_VALUE = 6
REPLACEMENT = "***"

_NAMES = r"(?:password|passwd|secret|token|api[_-]?key|dsn|ticket|csrfmiddlewaretoken|sessionid)"
_RULES = (
    # Whole headers, since their values contain spaces.
    (
        re.compile(
            r"(?i)\b(authorization|(?:set-)?cookie)(['\"]?\s{0,3}[:=]\s{0,3})(?:b?'[^'\n]*'|\"[^\"\n]*\"|[^\n]+)"
        ),
        r"\1\2***",
    ),
    (re.compile(r"(?i)\b(bearer|basic|token)\s{1,3}[A-Za-z0-9._~+/=-]{16,}"), r"\1 ***"),
    # name=value, "name": "value", name: value
    (
        re.compile(
            rf"(?i)({_NAMES}[a-z0-9_-]{{0,20}}['\"]?\s{{0,3}}[:=]\s{{0,3}})(?:b?'[^'\n]*'|\"[^\"\n]*\"|[^\s,;&)}}\]]+)"
        ),
        r"\1***",
    ),
    # scheme://user:password@host
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://)[^\s/'\"]{1,256}@"), r"\1***@"),
    # Incoming webhooks of chats: who knows the URL may write.
    (
        re.compile(
            r"(?i)(://(?:hooks\.slack\.com|(?:[a-z]+\.)?discord(?:app)?\.com/api(?:/v\d{1,2})?/webhooks)/)[^\s'\"<>]{1,512}"
        ),
        r"\1***",
    ),
    (re.compile(r"(?i)([?&]sig=)[^\s&'\"<>]{1,512}"), r"\1***"),
    # Links to results: /api/jobs/5/shared/1.<signature>
    (re.compile(r"(/shared/)[A-Za-z0-9._%-]{8,}"), r"\1***"),
    # Our own tokens, anywhere in the text.
    (re.compile(r"dure_[A-Za-z0-9_-]{32,}"), "dure_***"),
)


# Each rule needs one of these words; looking for them is ten times as fast as the rules.
_WORDS = (
    *("authorization", "cookie", "bearer", "basic", "token", "password", "passwd", "secret", "api", "dsn"),
    *("ticket", "csrfmiddlewaretoken", "sessionid", "://", "dure_", "/shared/"),
)


def redact(text: str) -> str:
    folded = text.casefold()
    if not any(word in folded for word in _WORDS):
        return text
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


class Redactor:
    """Redacts the texts of one run: it also removes the secret values among the run's arguments."""

    def __init__(self, args: Any) -> None:
        values = sorted(set(_secret_values(args)), key=len, reverse=True)
        self._values = re.compile("|".join(map(re.escape, values))) if values else None

    @property
    def has_values(self) -> bool:
        """Whether it redacts more than the function of this name."""
        return self._values is not None

    def redact(self, text: str) -> str:
        if self._values is not None:
            text = self._values.sub(REPLACEMENT, text)
        return redact(text)


def _secret_values(value: Any, is_secret: bool = False) -> Iterator[str]:
    """The texts below names that say that they are secret."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _secret_values(inner, is_secret or bool(SECRET.search(str(name))))
    elif isinstance(value, list):
        for inner in value:
            yield from _secret_values(inner, is_secret)
    elif is_secret and isinstance(value, str) and len(value) >= SHORTEST_VALUE:
        yield value
