"""Reads what operators type into a search box: an id, the beginning of one, or words."""

import re
from uuid import UUID

from jobs.ids import parse_number, parse_uuid

# The beginning of our ids is their time: so much of it is a minute, and few words look like it.
SHORTEST_BEGINNING = 8
BEGINNING = re.compile(r"[0-9a-f-]+", re.IGNORECASE)


def as_id(text: str, kind: str) -> UUID | int | None:
    """As an id of this kind of column; None where it cannot be one."""
    if "UUID" in kind:
        return parse_uuid(text)
    if "Integer" in kind or "AutoField" in kind:
        return parse_number(text)
    return None


def ids_from(text: str) -> tuple[UUID, UUID] | None:
    """The first and the last id that begins like this."""
    digits = text.replace("-", "")
    if not BEGINNING.fullmatch(text) or not SHORTEST_BEGINNING <= len(digits) < 32:
        return None
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))
