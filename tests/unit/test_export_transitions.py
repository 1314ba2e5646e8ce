"""The effect of messages in any order on an export."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exports.messages import Progress, Result
from exports.states import LIVE, TERMINAL, TRANSITIONS, Phase, Status, may_become
from exports.transitions import State, advance, settle

PROGRESS = st.builds(
    Progress,
    job_id=st.just(1),
    progress=st.integers(0, 100),
    phase=st.sampled_from(["", "encoding", *Phase.values]),
)
RESULT = st.builds(Result, job_id=st.just(1), status=st.sampled_from(sorted(TERMINAL)))


def follow(messages: list[Progress | Result]) -> list[State]:
    """Every state an export went through."""
    states = [State(Status.QUEUED)]
    for message in messages:
        state = advance(states[-1], message) if isinstance(message, Progress) else settle(states[-1], message)
        if state:
            states.append(state)
    return states


def test_every_status_is_in_the_transition_table() -> None:
    assert set(TRANSITIONS) == set(Status) == TERMINAL | LIVE


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_terminal_statuses_have_no_transitions(status: Status) -> None:
    assert not any(may_become(status, target) for target in Status)


def test_the_first_progress_starts_the_job_even_at_zero() -> None:
    assert advance(State(Status.QUEUED), Progress(1, 0)) == State(Status.RUNNING, 0, "")


def test_progress_that_goes_back_is_ignored() -> None:
    assert advance(State(Status.RUNNING, 40, "RENDERING"), Progress(1, 39, "FINALIZING")) is None


def test_a_repeated_message_is_ignored() -> None:
    assert advance(State(Status.RUNNING, 40, "RENDERING"), Progress(1, 40, "RENDERING")) is None


def test_a_later_phase_at_the_same_progress_counts_and_an_earlier_one_does_not() -> None:
    state = State(Status.RUNNING, 94, "RENDERING")
    assert advance(state, Progress(1, 94, "FINALIZING")) == State(Status.RUNNING, 94, "FINALIZING")
    assert advance(state, Progress(1, 94, "PREPARING")) is None


def test_a_result_may_overtake_the_first_progress() -> None:
    assert settle(State(Status.QUEUED), Result(1, Status.SUCCEEDED)) == State(Status.SUCCEEDED, 100, "")


def test_a_failure_keeps_the_progress_that_was_reached() -> None:
    assert settle(State(Status.RUNNING, 40), Result(1, Status.FAILED)) == State(Status.FAILED, 40)


@given(st.lists(st.one_of(PROGRESS, RESULT), max_size=40))
def test_progress_grows_and_one_end_is_reached_in_any_order(messages: list[Progress | Result]) -> None:
    states = follow(messages)
    assert [s.progress for s in states] == sorted(s.progress for s in states)
    assert sum(state.status in TERMINAL for state in states) <= 1
    for before, after in itertools.pairwise(states):
        assert after.status == before.status or may_become(before.status, after.status)
    results = [message for message in messages if isinstance(message, Result)]
    if results:
        assert states[-1].status == results[0].status


@given(st.lists(PROGRESS, min_size=1, max_size=30), st.randoms())
def test_repeated_progress_in_any_order_ends_at_the_furthest_message(messages, random) -> None:
    thrice = messages * 3
    random.shuffle(thrice)
    assert follow(thrice)[-1].progress == max(message.progress for message in messages)
