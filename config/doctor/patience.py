"""Asks what may not answer: a name that cannot be resolved or a frozen server must not keep us."""

import threading
from collections.abc import Callable
from typing import TypeVar

SECONDS = 3.0

T = TypeVar("T")


class NoAnswer(Exception):
    """It did not answer in time."""


def within(seconds: float, ask: Callable[[], T]) -> T:
    """The answer, or what asking raised; NoAnswer after so long. The asking itself is left behind."""
    answers: list[T] = []
    errors: list[Exception] = []

    def asking() -> None:
        try:
            answers.append(ask())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=asking, daemon=True, name="doctor")
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not answers:
        raise NoAnswer(f"no answer within {seconds:g} s")
    return answers[0]


def in_short(error: BaseException) -> str:
    """The first line of what it says."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].strip()
