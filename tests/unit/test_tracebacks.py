"""The traceback of a failed attempt."""

from types import SimpleNamespace
from typing import Any

import pytest

from dure.definitions import Definition, build_args_model
from jobs.redaction import Redactor
from jobs.tracebacks import MAX_BYTES, format_traceback

PLAIN = Redactor({})


def fail(ctx, text: str = "broken") -> None:
    raise ValueError(text)


def chain(ctx) -> None:
    try:
        fail(ctx, "the cause")
    except ValueError as error:
        raise RuntimeError("the consequence") from error


def recurse(ctx, depth: int = 0) -> None:
    recurse_more(ctx, depth)


def recurse_more(ctx, depth: int) -> None:
    recurse(ctx, depth + 1)


def traceback_of(function: Any, redactor: Redactor = PLAIN, **args: Any) -> str:
    """Calls the function as the engine does."""
    task: Any = SimpleNamespace(function=function, args_model=build_args_model(function))
    with pytest.raises((ValueError, RuntimeError)) as raised:
        Definition.call(task, None, args)
    return format_traceback(raised.value, redactor)


def test_only_the_frames_of_the_body_remain():
    text = traceback_of(fail)
    assert "in fail\n" in text
    assert text.endswith("ValueError: broken")
    assert "registry.py" not in text


def test_a_cause_is_shown_with_its_frames():
    text = traceback_of(chain)
    assert text.index("ValueError: the cause") < text.index("direct cause") < text.index("in chain\n", 400)
    assert text.endswith("RuntimeError: the consequence")
    assert "registry.py" not in text


def test_an_error_without_a_frame_of_the_body_has_no_traceback():
    assert format_traceback(ValueError("never raised"), PLAIN) == ""


def test_a_long_traceback_keeps_its_beginning_and_its_end():
    text = traceback_of(fail, text="누" * MAX_BYTES)
    assert len(text.encode()) <= MAX_BYTES
    assert text.startswith("Traceback (most recent call last):")
    assert "bytes of this traceback were left out" in text
    assert text.endswith("누누")


def test_an_endless_recursion_is_short_enough():
    text = traceback_of(recurse)
    assert len(text.encode()) <= MAX_BYTES
    assert "RecursionError" in text


def test_secrets_are_removed_from_a_traceback():
    redactor = Redactor({"nested": [{"api_key": "sekret-value"}], "name": "visible"})
    text = traceback_of(
        fail, redactor, text="sekret-value visible Authorization: Bearer abcdefghijklmnopqrst"
    )
    assert "sekret-value" not in text
    assert "abcdefghijklmnopqrst" not in text
    assert "visible" in text
