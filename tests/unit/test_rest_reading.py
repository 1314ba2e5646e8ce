"""Requests are read into pydantic models, with the texts that DRF has for the errors."""

from typing import Annotated, Any
from uuid import UUID

import pytest
from pydantic import Field
from rest_framework.exceptions import ValidationError

from jobs.api.framework.problem_details import flatten_errors
from jobs.api.framework.reading import read, read_changes
from jobs.api_model import WHOLE, ApiIn, Object, Omittable, OneOf, Uuid

COLOURS = ["red", "green"]


class Part(ApiIn):
    name: str = Field(min_length=1)


class Thing(ApiIn):
    name: str = Field(min_length=1, max_length=5)
    number: Omittable[Annotated[int, Field(ge=1, le=10), WHOLE]] = None
    share: Omittable[Annotated[float, Field(ge=0.5, le=2)]] = None
    flag: Omittable[bool] = None
    colour: Omittable[Annotated[str, OneOf(COLOURS)]] = None
    id: Omittable[Uuid] = None
    words: Omittable[
        Annotated[list[Annotated[str, Field(min_length=1, max_length=5)]], Field(max_length=2)]
    ] = None
    parts: Omittable[list[Part]] = None
    args: Omittable[Object] = None
    note: str | None = None


REFUSED: list[tuple[dict[str, Any], dict[str, list[str]]]] = [
    ({}, {"name": ["This field is required."]}),
    ({"name": None}, {"name": ["This field may not be null."]}),
    ({"name": " "}, {"name": ["This field may not be blank."]}),
    ({"name": "too long"}, {"name": ["Ensure this field has no more than 5 characters."]}),
    ({"name": 5}, {"name": ["Expected a text."]}),
    ({"name": 5, "number": "7"}, {"name": ["Expected a text."], "number": ["Expected a whole number."]}),
    ({"name": "x", "number": 1.5}, {"number": ["A valid integer is required."]}),
    ({"name": "x", "number": True}, {"number": ["Expected a whole number."]}),
    ({"name": "x", "number": 0}, {"number": ["Ensure this value is greater than or equal to 1."]}),
    ({"name": "x", "number": 11}, {"number": ["Ensure this value is less than or equal to 10."]}),
    ({"name": "x", "number": None}, {"number": ["This field may not be null."]}),
    ({"name": "x", "share": "1"}, {"share": ["Expected a number."]}),
    ({"name": "x", "share": 0.25}, {"share": ["Ensure this value is greater than or equal to 0.5."]}),
    ({"name": "x", "share": 3}, {"share": ["Ensure this value is less than or equal to 2."]}),
    ({"name": "x", "flag": 1}, {"flag": ["Expected true or false."]}),
    ({"name": "x", "flag": None}, {"flag": ["This field may not be null."]}),
    ({"name": "x", "colour": "blue"}, {"colour": ['"blue" is not a valid choice.']}),
    ({"name": "x", "colour": 5}, {"colour": ["Expected a text."]}),
    ({"name": "x", "id": "no"}, {"id": ["Must be a valid UUID."]}),
    ({"name": "x", "id": 5}, {"id": ["Expected a text."]}),
    ({"name": "x", "words": "red"}, {"words": ["Expected a list."]}),
    ({"name": "x", "words": ["a", "b", "c"]}, {"words": ["Ensure this field has no more than 2 elements."]}),
    ({"name": "x", "words": ["a", True]}, {"words.1": ["Not a valid string."]}),
    (
        {"name": "x", "words": ["a", "too long"]},
        {"words.1": ["Ensure this field has no more than 5 characters."]},
    ),
    ({"name": "x", "parts": [{"name": "a"}, {}]}, {"parts.1.name": ["This field is required."]}),
    (
        {"name": "x", "parts": [{"name": "a", "other": 1}]},
        {"parts.0.other": ["There is no such field to set; there are: name."]},
    ),
    (
        {"name": "x", "parts": ["a"]},
        {"parts.0.non_field_errors": ["Invalid data. Expected a dictionary, but got str."]},
    ),
    ({"name": "x", "args": "a"}, {"args": ['Expected a dictionary of items but got type "str".']}),
    ({"name": "x", "args": None}, {"args": ["This field may not be null."]}),
    (
        {"other": 1, "name": 5},
        {
            "other": [
                "There is no such field to set; there are: name, number, share, flag, colour, id, "
                "words, parts, args, note."
            ]
        },
    ),
    ({"name": 5, "number": 11}, {"name": ["Expected a text."]}),
    (
        {"number": 11},
        {"name": ["This field is required."], "number": ["Ensure this value is less than or equal to 10."]},
    ),
]


@pytest.mark.parametrize(("data", "errors"), REFUSED, ids=str)
def test_a_bad_request_is_refused_with_the_errors_of_its_fields(data, errors):
    with pytest.raises(ValidationError) as refused:
        read(Thing, data)
    assert list(flatten_errors(refused.value.detail).items()) == list(errors.items())


def test_the_changes_of_a_patch_require_no_field():
    assert read_changes(Thing, {"number": 5}) == {"number": 5}
    with pytest.raises(ValidationError):
        read_changes(Thing, {"name": None})


def test_a_good_request_is_read_into_values():
    data = {
        "name": " red ",
        "number": 5.0,
        "share": 1,
        "flag": False,
        "colour": "red",
        "id": "0199c0de-0000-7000-8000-000000000001",
        "words": ["a"],
        "parts": [{"name": "a"}],
        "args": {"a": [1]},
        "note": None,
    }
    read_values = {**data, "name": "red", "number": 5, "id": UUID("0199c0de-0000-7000-8000-000000000001")}
    assert read(Thing, data).values() == read_values


def test_the_keys_of_an_object_are_kept_as_they_are():
    args = {" a ": 1, "a": {" b": " c "}}
    assert read(Thing, {"name": "x", "args": args}).args == args
