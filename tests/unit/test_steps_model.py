"""Random step queues: the pure transitions against the loop of the specification."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.steps.states import HEAD, NO_OPERATION, TAIL
from scheduler.steps.transitions import OperationOutcome, StepNode, after_missing_library, after_operation
from tests.step_model import FAIL, NOTHING, SUCCEED, TIME_OUT, ModelJob, ModelRun, expected_run

OUTCOMES = {
    NOTHING: OperationOutcome.SUCCESS,
    SUCCEED: OperationOutcome.SUCCESS,
    FAIL: OperationOutcome.FAILED,
    TIME_OUT: OperationOutcome.TIMEOUT,
}

jobs = st.lists(
    st.builds(
        ModelJob,
        forward=st.sampled_from([SUCCEED, SUCCEED, SUCCEED, NOTHING, FAIL, TIME_OUT]),
        backward=st.sampled_from([NOTHING, SUCCEED, FAIL, TIME_OUT]),
        has_library=st.sampled_from([True, True, True, True, True, False]),
    ),
    min_size=1,
    max_size=12,
)


def linked(models: list[ModelJob]) -> dict[str, StepNode]:
    last = len(models) - 1
    return {
        str(place): StepNode(
            str(place),
            "NOTYET" if model.has_library else "NOLIB",
            HEAD if place == 0 else str(place - 1),
            TAIL if place == last else str(place + 1),
            NO_OPERATION if model.forward == NOTHING else "do",
            NO_OPERATION if model.backward == NOTHING else "undo",
        )
        for place, model in enumerate(models)
    }


def actual_run(models: list[ModelJob]) -> ModelRun:
    nodes, run, at = linked(models), ModelRun([]), "0"
    while True:
        node, model = nodes[at], models[int(at)]
        if run.direction == "FORWARD" and node.state == "NOLIB":
            transition = after_missing_library(node)
        else:
            run.trail.append((int(at), run.direction))
            behaviour = model.forward if run.direction == "FORWARD" else model.backward
            assert node.has_nothing_to_run(run.direction) == (behaviour == NOTHING)
            transition = after_operation(node, run.direction, OUTCOMES[behaviour])
        nodes[at] = replace(node, state=transition.state)
        run.direction, at = transition.direction, transition.next_job
        if transition.ends_run:
            run.states = [nodes[str(place)].state for place in range(len(models))]
            return run


@settings(max_examples=500)
@given(jobs)
def test_the_transitions_follow_the_specification(models):
    assert actual_run(models) == expected_run(models)
