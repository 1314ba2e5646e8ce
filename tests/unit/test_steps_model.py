"""Random queues: the walk that walk.py makes, step by step, against the specification's loop."""

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.steps.states import HEAD, NO_OPERATION, TAIL
from scheduler.steps.transitions import Ended, Here, passed, passed_without_library
from tests.step_model import FAIL, NOTHING, SUCCEED, TIME_OUT, ModelJob, Walked, walked

ENDED = {NOTHING: Ended.SUCCESS, SUCCEED: Ended.SUCCESS, FAIL: Ended.FAILED, TIME_OUT: Ended.TIMEOUT}

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


def linked(models: list[ModelJob]) -> dict[str, Here]:
    last = len(models) - 1
    return {
        str(place): Here(
            str(place),
            "NOTYET" if model.has_library else "NOLIB",
            HEAD if place == 0 else str(place - 1),
            TAIL if place == last else str(place + 1),
            NO_OPERATION if model.forward == NOTHING else "do",
            NO_OPERATION if model.backward == NOTHING else "undo",
        )
        for place, model in enumerate(models)
    }


def ours(models: list[ModelJob]) -> Walked:
    chain, walk, at = linked(models), Walked([]), "0"
    while True:
        here, model = chain[at], models[int(at)]
        if walk.direction == "FORWARD" and here.state == "NOLIB":
            result = passed_without_library(here)
        else:
            walk.trail.append((int(at), walk.direction))
            how = model.forward if walk.direction == "FORWARD" else model.backward
            assert here.has_nothing_to_run(walk.direction) == (how == NOTHING)
            result = passed(here, walk.direction, ENDED[how])
        links = (here.prev_job, here.next_job, here.forward_operation, here.backward_operation)
        chain[at] = Here(at, result.state, *links)
        walk.direction, at = result.direction, result.to
        if result.is_over:
            walk.states = [chain[str(place)].state for place in range(len(models))]
            return walk


@settings(max_examples=2_000, deadline=None)
@given(jobs)
def test_the_walk_is_the_specifications(models):
    assert ours(models) == walked(models)
