"""Registering Tasks: one function for each task_id."""

import pytest

from jobs import registry
from jobs.registry import task


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    before = dict(registry._tasks)
    yield
    registry._tasks.clear()
    registry._tasks.update(before)


def test_a_second_function_of_one_module_cannot_have_the_same_task_id():
    @task("registry.same")
    def first(ctx) -> None: ...

    with pytest.raises(ValueError, match=r"registered already, by .*first"):

        @task("registry.same")
        def second(ctx) -> None: ...

    assert registry._tasks["registry.same"].function is first


def test_the_same_function_may_be_loaded_again():
    def load():
        @task("registry.again")
        def body(ctx) -> None: ...

        return body

    load()
    newest = load()
    assert registry._tasks["registry.again"].function is newest
