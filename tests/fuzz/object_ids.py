"""Puts existing ids into requests, so that they reach more than a 404."""

import json
from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from typing import Any

# The variable that names the file of existing ids.
FILE_VARIABLE = "DURE_FUZZ_OBJECT_IDS"
# Parameter name, prefix of the paths that it applies to, and ids. JSON has no pairs as keys.
Ids = list[tuple[str, str, Sequence[Any]]]

# Fields of bodies that name an existing object, with the corresponding parameter.
FIELDS = {"office": "office_id", "workflow_id": "workflow_id"}
# One of so many requests keeps its generated ids.
OWN_IDS = 6


class ObjectIds:
    """Existing ids are used in rotation; each spare id is deleted once."""

    def __init__(self, existing: Ids, spare: Ids) -> None:
        self.existing, self.spare = existing, [(name, below, list(values)) for name, below, values in spare]
        self._counts: dict[tuple[str, str], count[int]] = defaultdict(count)

    @classmethod
    def read(cls, text: str) -> "ObjectIds":
        return cls(**json.loads(text))

    def replace_path_ids(self, method: str, path: str, parameters: dict[str, Any]) -> None:
        """Replaces the ids of a path."""
        if next(self._counts["", path]) % OWN_IDS == OWN_IDS - 1:
            return
        find = self._spare_id if method == "DELETE" else self.existing_id
        for name in parameters:
            result = find(name, path)
            if result is not None:
                parameters[name] = result

    def existing_id(self, name: str, path: str) -> Any:
        for parameter, below, values in self.existing:
            if parameter == name and path.startswith(below):
                return values[next(self._counts[name, below]) % len(values)]
        return None

    def _spare_id(self, name: str, path: str) -> Any:
        for parameter, below, values in self.spare:
            if parameter == name and path.startswith(below) and values:
                # The last parameter of the path names the object to delete.
                if not path.endswith(f"{{{name}}}"):
                    return values[0]
                # The first office contains the other objects.
                return values.pop() if len(values) > 1 or name != "office_id" else None
        return None
