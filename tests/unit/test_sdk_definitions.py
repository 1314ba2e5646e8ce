"""The decorator of sdk/: one function for each task_id, and options that fit."""

import subprocess
import sys

import pytest

from dure import definitions, task
from tests.acceptance.system import CHECKOUT


def test_a_second_function_of_one_module_cannot_have_the_same_task_id():
    @task("sdk.same")
    def first(ctx) -> None: ...

    with pytest.raises(ValueError, match=r"registered already, by .*first"):

        @task("sdk.same")
        def second(ctx) -> None: ...

    assert definitions.find("sdk.same").function is first


def test_the_same_function_may_be_loaded_again():
    def load():
        @task("sdk.again")
        def body(ctx) -> None: ...

        return body

    load()
    newest = load()
    assert definitions.find("sdk.again").function is newest


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"role": "control"}, "not the name of a role"),
        ({"role": "a b"}, "not the name of a role"),
        ({"on_lost": "again"}, "on_lost is one of retry, fail"),
        ({"timeout": 0}, "timeout"),
        ({"max_retries": -1}, "max_retries"),
        ({"exclusive": "yes"}, "exclusive is True or False"),
        *(
            ({"rate_limit": text}, "rate_limit is a number of starts")
            for text in (
                *("", "10", "10/", "/m", "10/w", "10 /m", "10/m\n"),
                *("0/m", "-1/m", "1.5/m", "100001/d", 10),
            )
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        task("sdk.refused", **options)(lambda ctx: None)
    with pytest.raises(definitions.UnknownTask):
        definitions.find("sdk.refused")


@pytest.mark.parametrize("task_id", ["", "x" * 201])
def test_a_task_id_has_a_length(task_id):
    with pytest.raises(ValueError, match="1 to 200 characters"):
        task(task_id)(lambda ctx: None)


def no_hint(ctx, name) -> None: ...


def many(ctx, *names: str) -> None: ...


@pytest.mark.parametrize(("function", "message"), [(no_hint, "needs a type hint"), (many, "one by one")])
def test_every_argument_has_a_name_and_a_type_hint(function, message):
    with pytest.raises(TypeError, match=message):
        task("sdk.hints")(function)


def test_a_listener_is_called_for_every_task_and_may_refuse_one():
    seen = []

    def listen(definition):
        if definition.task_id == "sdk.unwanted":
            raise ValueError("unwanted")
        seen.append(definition.task_id)

    task("sdk.early")(lambda ctx: None)
    definitions.call_for_each(listen)
    try:
        task("sdk.late")(lambda ctx: None)
        with pytest.raises(ValueError, match="unwanted"):
            task("sdk.unwanted")(lambda ctx: None)
    finally:
        definitions._listeners.remove(listen)
    assert {"sdk.early", "sdk.late"} <= set(seen)
    with pytest.raises(definitions.UnknownTask):
        definitions.find("sdk.unwanted")


def test_an_author_needs_no_server_and_no_client():
    """Also in a worker, which has no httpx."""
    code = (
        "import sys, dure, dure.testing\n"
        "print([name for name in ('django', 'celery', 'httpx') if name in sys.modules])\n"
        "print(dure.Client.__name__, [name for name in ('django', 'celery') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT / "sdk", capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\nClient []\n"


def test_a_rate_limit_is_a_number_of_starts_in_a_period():
    limits = {text: definitions.parse_rate_limit(text) for text in ("1/s", "10/m", "5/h", "100000/d")}
    assert limits == {"1/s": (1, 1), "10/m": (10, 60), "5/h": (5, 3_600), "100000/d": (100_000, 86_400)}
