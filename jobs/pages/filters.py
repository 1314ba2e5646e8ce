"""What the filter of a list asks for, as its address has it."""

from collections.abc import Iterable

from django.http import QueryDict


def asked(given: QueryDict, names: Iterable[str]) -> QueryDict:
    """Of these names, without what is empty."""
    query = QueryDict(mutable=True)
    for name in names:
        if values := [value for value in given.getlist(name) if value]:
            query.setlist(name, values)
    return query
