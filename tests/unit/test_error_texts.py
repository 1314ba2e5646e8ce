"""Errors name texts of the catalogue: every code exists, and every parameter is passed."""

import ast
import re
from collections.abc import Iterator

import pytest
from django.utils import translation

from jobs import errors
from jobs.errors import Conflict, ErrorText, Invalid
from tests.workers import ROOT

APPS = ("jobs", "scheduler", "exports", "workers")
RAISED = {"ErrorText", "Conflict", "Invalid", "TooLarge"}
NOT_PARAMETERS = {"code", "errors", "extra"}


def uses() -> Iterator[tuple[str, str, set[str | None]]]:
    """The place, code and parameters (None for `**`) of each call with a literal code."""
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
                    continue
                code = node.args[0]
                if node.func.id in RAISED and isinstance(code, ast.Constant) and isinstance(code.value, str):
                    passed = {keyword.arg for keyword in node.keywords} - NOT_PARAMETERS
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", code.value, passed


def test_every_raised_code_has_a_text_and_its_parameters():
    calls = list(uses())
    assert len(calls) > 60
    for place, code, passed in calls:
        assert code in errors._texts, place
        needed = set(re.findall(r"%\((\w+)\)s", str(errors._texts[code])))
        assert needed <= passed or None in passed, (place, needed - passed)


def test_an_error_is_english_and_its_text_is_in_the_readers_language():
    error = Conflict("too_many_webhooks", limit=20)
    with translation.override("ko"):
        assert str(error) == "An office has at most 20 webhooks."
        assert str(error.text) == "오피스의 웹훅은 최대 20개입니다."


def test_an_error_without_a_code_of_its_own_reports_its_first_field():
    error = Invalid(errors={"at": [ErrorText("required")], "cron": ["required"]})
    assert str(error) == "at: This field is required."
    assert error.errors_in_english()["cron"] == ["This field is required."]
    assert error.code == "invalid"


def test_an_error_has_the_problem_code_of_its_text():
    assert Conflict("too_many_webhooks", limit=20).code == "too_many_webhooks"
    assert Conflict("already_ended").code == "conflict"


def test_a_code_has_one_text():
    with pytest.raises(ValueError, match="have another text already: required"):
        errors.register_texts({"required": "Something else."})
