"""The base of all records: reads a document of the API into the fields of a dataclass.

Fields that this version does not know are in `raw`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from types import NoneType, UnionType
from typing import Any, Self, get_args, get_origin, get_type_hints

from pydantic.alias_generators import to_camel


@dataclass(frozen=True, kw_only=True)
class Record:
    # The whole document, as the API wrote it.
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        """Missing fields get their default; the documents of exports have their names in camelCase."""
        values = {}
        for name, hint in _hints(cls).items():
            key = name if name in document else to_camel(name)
            if key in document:
                values[name] = _read_value(document[key], hint)
        return cls(raw=document, **values)


def _hints(record: "type[Record]") -> dict[str, Any]:
    hints = get_type_hints(record)
    return {each.name: hints[each.name] for each in fields(record) if each.name != "raw"}


def _read_value(value: Any, hint: Any) -> Any:
    if isinstance(hint, UnionType):
        (hint,) = set(get_args(hint)) - {NoneType}
    if value is None:
        return None
    if get_origin(hint) is list:
        (item,) = get_args(hint)
        return [_read_value(each, item) for each in value]
    if hint in (date, datetime):
        return hint.fromisoformat(value)
    if isinstance(hint, type) and issubclass(hint, Record):
        return hint.read(value)
    return value


@dataclass(frozen=True, kw_only=True)
class Work(Record):
    """What ends at some time: `wait()` takes it."""

    @property
    def path(self) -> str:
        raise NotImplementedError

    @property
    def finished(self) -> bool:
        raise NotImplementedError

    @property
    def succeeded(self) -> bool:
        raise NotImplementedError
