"""docs/states.md has every state, with the name that the pages show and the states that may follow."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.utils.translation import override

import exports.display  # registers the names of an export's states
import exports.states
from jobs import display, states
from jobs.display import Label
from scheduler.display import OUTCOMES, WORKFLOWS
from scheduler.states import OccurrenceOutcome, RunStatus, WorkflowStatus
from scheduler.steps.pages import labels
from scheduler.steps.states import JobState, QueueState
from tests.transitions import EXECUTION_TRANSITIONS, JOB_TRANSITIONS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "states.md"
LABELS = display.STATE_LABELS
# Each table: its states, the labels of the pages, and the transitions where the code has a table of them.
TABLES: dict[str, tuple[Iterable[str], Mapping[str, Label], Mapping[Any, Iterable[str]] | None]] = {
    "Job": (states.JobStatus.values, LABELS, JOB_TRANSITIONS),
    "Execution": (states.ExecutionStatus.values, LABELS, EXECUTION_TRANSITIONS),
    "Attempt": (states.Outcome.values, display.OUTCOME_LABELS, None),
    "Scheduled run": (OccurrenceOutcome.values, OUTCOMES, None),
    "Workflow": (WorkflowStatus.values, WORKFLOWS, None),
    "Workflow run": (RunStatus.values, LABELS, None),
    "Step queue": (QueueState.values, labels.STATE_LABELS, None),
    "Export": (exports.states.Status.values, LABELS, exports.states.TRANSITIONS),
}


def rows(title: str) -> list[list[str]]:
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert section, title
    lines = re.findall(r"^\| (`.*) ?\|$", section[1], re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def rows_of_states(title: str) -> dict[str, list[str]]:
    return {row[0].strip("`"): row for row in rows(title) if row[1] != "on the pages"}


@pytest.mark.parametrize("title", TABLES)
def test_a_table_has_the_states_names_and_transitions_of_the_code(title):
    expected, names, transitions = TABLES[title]
    documented = rows_of_states(title)
    assert set(documented) == set(expected)
    with override("en"):
        for state, row in documented.items():
            assert row[1] == str(names[state].name), state
            if transitions is not None:
                followers = {str(follower) for follower in transitions[type(next(iter(transitions)))(state)]}
                assert set(re.findall(r"`(\w+)`", row[3])) == followers, state


def test_the_words_of_a_step_and_the_names_of_its_operations_are_those_of_the_code():
    assert {row[0].strip("`") for row in rows("Step")} == set(JobState)
    text = " ".join(PAGE.read_text().split())
    with override("en"):
        names = ", ".join(str(label.name) for label in labels.OPERATION_LABELS.values())
    assert f"one name for each operation: {names}." in text
