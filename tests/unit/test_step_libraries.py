"""Registering operations: which functions, under which names."""

import pytest

from dure import StepRun, operation, step_operations
from scheduler.steps import libraries
from scheduler.steps import operations as steps


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    before = dict(step_operations._operations)
    yield
    step_operations._operations.clear()
    step_operations._operations.update(before)


def test_a_library_is_named_after_its_module():
    @operation
    def some_operation(step: StepRun, size: int = 1) -> None:
        """Does it."""

    registered = libraries.find_own("test_step_libraries", "some_operation")
    assert (registered.description, registered.role, registered.max_retries) == ("Does it.", "default", None)
    assert registered.schema["properties"]["size"]["type"] == "integer"
    assert registered.definition.function is some_operation


def test_a_module_from_before_the_package_imports_the_same_from_the_server():
    assert (libraries.operation, steps.StepRun) == (operation, StepRun)


def test_a_second_function_of_a_name_is_refused():
    def define() -> None:
        @operation(library="mine")
        def same(step: StepRun) -> None: ...

    def other(step: StepRun) -> int:
        return 1

    define()
    define()  # as by a module that is loaded again
    other.__name__ = "same"
    with pytest.raises(ValueError, match=r"mine\.same is registered already"):
        operation(library="mine")(other)


def test_a_library_belongs_to_one_module():
    @operation(library="mine")
    def first(step: StepRun) -> None: ...

    def second(step: StepRun) -> None: ...

    second.__module__ = "elsewhere"
    with pytest.raises(ValueError, match="registered already, by tests"):
        operation(library="mine")(second)


@pytest.mark.parametrize("library", ["UNINIT", "a.b", "../x", "x" * 101])
def test_a_library_has_a_plain_name(library):
    with pytest.raises(ValueError, match="cannot name"):

        @operation(library=library)
        def fine(step: StepRun) -> None: ...


def test_an_operation_is_not_called_no_operation():
    def NO_OPERATION(step: StepRun) -> None: ...  # noqa: N802

    with pytest.raises(ValueError, match="cannot name"):
        operation(NO_OPERATION)


def test_a_role_has_a_valid_name():
    with pytest.raises(ValueError, match="not the name of a role"):

        @operation(role="control")
        def fine(step: StepRun) -> None: ...


def test_arguments_are_named_one_by_one_with_their_types():
    with pytest.raises(TypeError):

        @operation
        def untyped(step: StepRun, size) -> None: ...

    with pytest.raises(TypeError):

        @operation
        def anything(step: StepRun, **values: int) -> None: ...


def test_an_operation_is_never_found_by_an_import_path():
    for library, name in (
        ("os", "system"),
        ("workers.provisioning", "create_volume"),
        ("provisioning", "make"),
    ):
        with pytest.raises(libraries.UnknownOperation):
            libraries.find_own(library, name)
