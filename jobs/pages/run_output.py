"""What a run's program wrote, where its Task keeps that: the tail of it, as people can read it."""

import re
from dataclasses import dataclass
from typing import Any

# What Tasks that start programs call it in their result.
TAIL = "output_tail"
MOST_CHARACTERS = 20_000
# Colours and cursor movements, then every other control character but tab and line end.
UNPRINTABLE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Output:
    """`result` is what is left of the run's result without it."""

    tail: str
    cut: bool
    result: Any


def output_of(result: Any) -> Output | None:
    if not isinstance(result, dict) or not isinstance(result.get(TAIL), str):
        return None
    text = UNPRINTABLE.sub("", result[TAIL].replace("\r\n", "\n"))
    rest = {name: value for name, value in result.items() if name != TAIL}
    return Output(text[-MOST_CHARACTERS:], len(text) > MOST_CHARACTERS, rest)
