"""The schema of a workflow's input: what is refused, so that a check of an input always ends soon."""

import pytest

from jobs.errors import Invalid
from scheduler.workflows.inputs import check_input, check_schema, check_start_without_input

MONTH = {"type": "object", "required": ["month"], "properties": {"month": {"type": "string"}}}


def errors(check, *values):
    with pytest.raises(Invalid) as refused:
        check(*values)
    return refused.value.errors_in_english()


def doubled(levels):
    """A small schema whose references lead to 2^levels places."""
    definitions = {f"a{level}": {"anyOf": [{"$ref": f"#/$defs/a{level + 1}"}] * 2} for level in range(levels)}
    return {"$defs": {**definitions, f"a{levels}": {"type": "string"}}, "$ref": "#/$defs/a0"}


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ([], "object"),
        ({"type": "month"}, "month"),
        ({"properties": {"a": {"pattern": "(a+)+$"}}}, "'pattern' is not supported"),
        ({"$id": "http://127.0.0.1/schema"}, "'$id' is not supported"),
        ({"$ref": "http://127.0.0.1/schema"}, "only references like"),
        ({"$ref": "#/$defs/none"}, "only references like"),
        ({"items": {"$ref": "#"}}, "leads back to itself"),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "leads back to itself"),
        (doubled(40), "more than 2000 schemas"),
        ({"description": "x" * 70_000}, "At most 65536 bytes"),
    ],
)
def test_a_schema_that_could_not_be_checked_soon_is_refused(schema, text):
    (message,) = errors(check_schema, schema)["input_schema"]
    assert text in message


def test_a_schema_with_local_references_is_accepted():
    check_schema({"$defs": {"day": {"type": "integer", "maximum": 31}}, "items": {"$ref": "#/$defs/day"}})
    check_schema({"properties": {"pattern": {"type": "string"}}})


def test_an_input_that_does_not_fit_is_refused_by_field():
    check_input(MONTH, {"month": "2026-11"})
    check_input(None, [1, "anything"])
    assert set(errors(check_input, MONTH, {})) == {"input.month"}
    assert set(errors(check_input, MONTH, {"month": 3})) == {"input.month"}
    assert set(errors(check_input, None, "x" * 70_000)) == {"input"}


def test_a_schema_that_needs_an_input_cannot_start_without_one():
    check_start_without_input({"type": "object"})
    assert "must accept {}" in errors(check_start_without_input, MONTH)["input_schema"][0]
