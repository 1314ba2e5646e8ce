"""Roles are names of queues. A Task or a job may name any; a worker serves it with `-Q name`."""

import re

# The queues of the engine's own tasks, and Celery's default.
RESERVED = ("control", "notices", "celery")
LONGEST = 64
# A regular expression of JSON Schema.
PATTERN = rf"^(?!(?:{'|'.join(RESERVED)})$)[A-Za-z][A-Za-z0-9_.-]{{0,{LONGEST - 1}}}$"


def is_role(name: str) -> bool:
    # `$` would accept a line feed at the end.
    return not name.endswith("\n") and re.match(PATTERN, name) is not None
