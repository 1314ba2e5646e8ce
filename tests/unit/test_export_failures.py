"""Failures of replays and exports: English on the wire and in rows, the reader's language on pages."""

import re

import pytest
from django.utils import translation
from django.utils.translation import gettext

from dure.failures import FailureType
from exports.failures import PLACES, TEXTS, BadReplay, text, translate_text
from exports.reports import failure
from exports.states import ErrorCode


def params_of(template: str) -> dict[str, str]:
    values = {"problem": text("path_outside"), "reason": "no more: really"}
    return {name: values.get(name, "7") for name in re.findall(r"%\((\w+)\)s", template)}


@pytest.mark.parametrize("code", TEXTS)
def test_a_stored_failure_is_translated_with_its_parameters(code: str) -> None:
    stored = text(code, **params_of(TEXTS[code]))
    assert translate_text(stored, str) == stored
    with translation.override("ko"):
        korean = translate_text(stored, gettext)
    assert re.search("[가-힣]", korean)
    assert all(value in korean for name, value in params_of(TEXTS[code]).items() if name != "problem")


@pytest.mark.parametrize("place", PLACES)
def test_a_location_before_a_failure_is_translated(place: str) -> None:
    stored = text("no_content", **{place: 3})
    with translation.override("ko"):
        assert translate_text(stored, gettext).startswith("3번째")


def test_all_parts_of_a_nested_location_are_translated() -> None:
    bad = BadReplay("text_too_long", line=3, player=2, name="name", limit=40)
    assert str(bad) == "Line 3: player 2: name is longer than 40 characters."
    with translation.override("ko"):
        assert translate_text(str(bad), gettext) == "3번째 줄: 2번째 플레이어: name: 40자보다 깁니다."


def test_a_foreign_workers_text_is_not_translated() -> None:
    assert translate_text("nobody: has ever said this", gettext) == ""


@pytest.mark.parametrize("failure_type", [FailureType.TIMEOUT, FailureType.POISON, FailureType.ERROR])
def test_the_failure_of_a_run_has_a_known_text(failure_type: str) -> None:
    assert translate_text(failure(failure_type, "ValueError")[1], str)


def test_the_error_code_in_front_of_a_runs_failure_is_not_part_of_the_text() -> None:
    message = text("disk_full")
    assert failure(FailureType.INVALID_ARGS, f"DISK_FULL: {message}") == (ErrorCode.DISK_FULL, message)
