"""What a list is to show, as its address says."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.translation import gettext as _


@dataclass(frozen=True)
class Asked:
    # Without what is empty or unknown.
    query: QueryDict
    problems: list[str]

    def get(self, name: str) -> str:
        return self.query.get(name) or ""


def asked(given: QueryDict, choices: Mapping[str, Collection[str]]) -> Asked:
    query, problems = QueryDict(mutable=True), list[str]()
    for name, allowed in choices.items():
        value = given.get(name)
        if not value:
            continue
        if value in allowed:
            query[name] = value
        else:
            problems.append(
                _("%(name)s must be one of %(values)s.") % {"name": name, "values": ", ".join(allowed)}
            )
    return Asked(query, problems)
