"""Query parameters are parsed as the schema describes them."""

import pytest
from django.test import RequestFactory
from rest_framework.request import Request

from jobs.api.framework.problem_details import Problem
from jobs.api.framework.query import Flag, OneOf, Seconds, WholeNumber

COUNT = WholeNumber("it", "How many.", default=5, low=1, high=100)
WAIT = Seconds("it", "How long.", most=60)
GRAPH = Flag("it", "With a graph.", default=True)
COLOR = OneOf("it", "Which.", ("red", "green"))


def read_parameter(parameter, *data: str):
    return parameter.of(Request(RequestFactory().get("/", {"it": data[0]} if data else {})))


def test_an_absent_parameter_has_its_default():
    assert [read_parameter(each) for each in (COUNT, WAIT, GRAPH, COLOR)] == [5, 0, True, None]


def test_a_valid_parameter_is_read():
    assert [read_parameter(COUNT, "1"), read_parameter(COUNT, "100"), read_parameter(COUNT, "007")] == [
        1,
        100,
        7,
    ]
    assert [
        read_parameter(WAIT, "0"),
        read_parameter(WAIT, "60"),
        read_parameter(WAIT, "1.5"),
        read_parameter(WAIT, "5e-1"),
    ] == [0, 60, 1.5, 0.5]
    assert [read_parameter(GRAPH, "true"), read_parameter(GRAPH, "false")] == [True, False]
    assert read_parameter(COLOR, "red") == "red"


@pytest.mark.parametrize(
    ("parameter", "wrong"),
    [
        *((COUNT, wrong) for wrong in ("", "0", "101", "-1", "1.0", "1e2", " 1", "٣", "x", "9" * 5000)),
        *(
            (WAIT, wrong)
            for wrong in ("", "-1", "60.1", "nan", "inf", "1e400", "1e999", "soon", "٣", "9" * 5000)
        ),
        *((GRAPH, wrong) for wrong in ("", "1", "0", "True", "yes", "null")),
        *((COLOR, wrong) for wrong in ("", "blue", "Red", "red,green")),
    ],
)
def test_an_invalid_parameter_is_rejected(parameter, wrong):
    with pytest.raises(Problem) as refused:
        read_parameter(parameter, wrong)
    assert refused.value.problem.status == 400
    assert list(refused.value.problem.errors) == ["it"]


def test_a_parameter_has_its_bounds_in_openapi():
    assert COUNT.schema == {"type": "integer", "minimum": 1, "maximum": 100, "default": 5}
    assert WAIT.schema["maximum"] == 60
    assert COLOR.schema["enum"] == ["red", "green"]
