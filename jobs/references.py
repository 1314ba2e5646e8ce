"""References in the arguments of a job: to the result of a dependency, and to the input of its workflow.

`{"$result": "extract", "path": "rows.0.id"}` stands for a part of the result of the dependency `extract`,
`{"$input": "month"}` for a part of the input. A worker replaces them when it has claimed the run.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

RESULT, INPUT, PATH = "$result", "$input", "path"


class MalformedReference(ValueError):
    """A reference with other keys than its own, or with values that are no texts."""


class MissingValue(LookupError):
    """There is nothing at the path of a reference."""


@dataclass(frozen=True)
class Reference:
    """`name` is the dependency; empty for the input."""

    name: str
    path: str

    @property
    def is_input(self) -> bool:
        return not self.name

    def __str__(self) -> str:
        source = INPUT if self.is_input else f"{RESULT} {self.name}"
        return f"{source}, path {self.path!r}" if self.path else source

    def follow(self, value: Any) -> Any:
        """The part of this value at the path: keys of objects and places in lists, separated by dots."""
        for part in self.path.split(".") if self.path else ():
            try:
                value = value[int(part)] if isinstance(value, list) else value[part]
            except (KeyError, IndexError, TypeError, ValueError):
                raise MissingValue(f"There is no {part!r} in {self}.") from None
        return value


def read_reference(value: Any) -> Reference | None:
    """The reference that this value is, if it is one."""
    if not isinstance(value, Mapping) or not (RESULT in value or INPUT in value):
        return None
    name, path = value.get(RESULT), value.get(INPUT, value.get(PATH, ""))
    is_result = RESULT in value
    allowed = {RESULT, PATH} if is_result else {INPUT}
    if not (set(value) <= allowed and isinstance(path, str) and (not is_result or isinstance(name, str))):
        raise MalformedReference
    if is_result and not name:
        raise MalformedReference
    return Reference(name or "", path)


def find_references(value: Any) -> Iterator[Reference]:
    """All references below this value."""
    reference = read_reference(value)
    if reference is not None:
        yield reference
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from find_references(part)
    elif isinstance(value, list):
        for part in value:
            yield from find_references(part)


def replace_references(value: Any, read: Callable[[Reference], Any]) -> Any:
    """The value with each reference replaced by what `read` returns for it."""
    reference = read_reference(value)
    if reference is not None:
        return read(reference)
    if isinstance(value, Mapping):
        return {name: replace_references(part, read) for name, part in value.items()}
    if isinstance(value, list):
        return [replace_references(part, read) for part in value]
    return value
