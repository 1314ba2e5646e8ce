"""Reads what operators type into a search box: an id, or the beginning of one."""

import re
from uuid import UUID

from jobs.ids import parse_number, parse_uuid

# Our ids begin with their time: eight digits are about a minute, and few words look like them.
SHORTEST_BEGINNING = 8
BEGINNING = re.compile(r"[0-9a-f-]+", re.IGNORECASE)


def as_id(text: str, kind: str) -> UUID | int | None:
    """The text as a value of such a column; None if it is not one."""
    if "UUID" in kind:
        return parse_uuid(text)
    if "Integer" in kind or "AutoField" in kind:
        return parse_number(text)
    return None


def ids_from(text: str) -> tuple[UUID, UUID] | None:
    """The first and the last id with this beginning."""
    digits = text.replace("-", "")
    if not BEGINNING.fullmatch(text) or not SHORTEST_BEGINNING <= len(digits) < 32:
        return None
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))
