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


def of(parameter, *data: str):
    return parameter.of(Request(RequestFactory().get("/", {"it": data[0]} if data else {})))


def test_an_absent_parameter_has_its_default():
    assert [of(each) for each in (COUNT, WAIT, GRAPH, COLOR)] == [5, 0, True, None]


def test_a_valid_parameter_is_read():
    assert [of(COUNT, "1"), of(COUNT, "100"), of(COUNT, "007")] == [1, 100, 7]
    assert [of(WAIT, "0"), of(WAIT, "60"), of(WAIT, "1.5"), of(WAIT, "5e-1")] == [0, 60, 1.5, 0.5]
    assert [of(GRAPH, "true"), of(GRAPH, "false")] == [True, False]
    assert of(COLOR, "red") == "red"


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
        of(parameter, wrong)
    assert refused.value.problem.status == 400
    assert list(refused.value.problem.errors) == ["it"]


def test_a_parameter_has_its_bounds_in_openapi():
    assert COUNT.schema == {"type": "integer", "minimum": 1, "maximum": 100, "default": 5}
    assert WAIT.schema["maximum"] == 60
    assert COLOR.schema["enum"] == ["red", "green"]
