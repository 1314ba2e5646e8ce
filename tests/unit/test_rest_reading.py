"""A request read by a pydantic model has the errors that a DRF serializer of the same fields has."""

from typing import Annotated, Any
from uuid import UUID

import pytest
from django.utils import translation
from pydantic import Field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from jobs.api.framework.problem_details import flatten_errors
from jobs.api.framework.reading import read
from jobs.api.framework.serializers import StrictSerializer, validated
from jobs.api_model import WHOLE, ApiIn, Omittable, OneOf

COLOURS = ["red", "green"]


class Part(ApiIn):
    name: str = Field(min_length=1)


class Thing(ApiIn):
    name: str = Field(min_length=1, max_length=5)
    number: Omittable[Annotated[int, Field(ge=1, le=10), WHOLE]] = None
    share: Omittable[Annotated[float, Field(ge=0.5, le=2)]] = None
    flag: Omittable[bool] = None
    colour: Omittable[Annotated[str, OneOf(COLOURS)]] = None
    id: Omittable[Annotated[UUID, Field(strict=False)]] = None
    words: Omittable[
        Annotated[list[Annotated[str, Field(min_length=1, max_length=5)]], Field(max_length=2)]
    ] = None
    parts: Omittable[list[Part]] = None
    args: Omittable[dict[str, Any]] = None
    note: str | None = None


class PartSerializer(StrictSerializer):
    name = serializers.CharField()


class ThingSerializer(StrictSerializer):
    name = serializers.CharField(max_length=5)
    number = serializers.IntegerField(required=False, min_value=1, max_value=10)
    share = serializers.FloatField(required=False, min_value=0.5, max_value=2)
    flag = serializers.BooleanField(required=False)
    colour = serializers.ChoiceField(COLOURS, required=False)
    id = serializers.UUIDField(required=False)
    words = serializers.ListField(child=serializers.CharField(max_length=5), required=False, max_length=2)
    parts = serializers.ListField(child=PartSerializer(), required=False)
    args = serializers.DictField(required=False)
    note = serializers.CharField(required=False, allow_null=True)


BAD = [
    {},
    {"name": None},
    {"name": " "},
    {"name": "too long"},
    {"name": 5},
    {"name": 5, "number": "7"},
    {"name": "x", "number": 1.5},
    {"name": "x", "number": True},
    {"name": "x", "number": 0},
    {"name": "x", "number": 11},
    {"name": "x", "number": None},
    {"name": "x", "share": "1"},
    {"name": "x", "share": 0.25},
    {"name": "x", "share": 3},
    {"name": "x", "flag": 1},
    {"name": "x", "flag": None},
    {"name": "x", "colour": "blue"},
    {"name": "x", "colour": 5},
    {"name": "x", "id": "no"},
    {"name": "x", "id": 5},
    {"name": "x", "words": "red"},
    {"name": "x", "words": ["a", "b", "c"]},
    {"name": "x", "words": ["a", True]},
    {"name": "x", "words": ["a", "too long"]},
    {"name": "x", "parts": [{"name": "a"}, {}]},
    {"name": "x", "parts": [{"name": "a", "other": 1}]},
    {"name": "x", "parts": ["a"]},
    {"name": "x", "args": "a"},
    {"name": "x", "args": None},
    {"other": 1, "name": 5},
    {"name": 5, "number": 11},
    {"number": 11},
]


@pytest.mark.parametrize("data", BAD, ids=str)
def test_a_bad_request_has_the_errors_of_a_serializer(data):
    with translation.override("en"), pytest.raises(ValidationError) as expected:
        validated(ThingSerializer(data=data))
    with pytest.raises(ValidationError) as refused:
        read(Thing, data)
    expected_errors = flatten_errors(expected.value.detail)
    assert list(flatten_errors(refused.value.detail).items()) == list(expected_errors.items())


def test_a_good_request_is_read_as_by_a_serializer():
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
    assert read(Thing, data).model_dump(exclude_unset=True) == validated(ThingSerializer(data=data))
