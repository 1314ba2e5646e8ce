"""The types of the client in sdk/ are those of the API's schema."""

from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from dure import job_records, office_records, records, schedule_records, step_records
from dure.operations.executions import Level
from tests.openapi import document

NAMES = {"Batch": "BatchInFull", "Event": "SchedulerEvent", "OfficeConfig": "JobSchedulerConfig"}
# The client adds them, so that a batch knows its own URL and its jobs.
ADDED = {"raw", "Batch.office_id", "Batch.jobs"}
RECORDS = [
    value
    for module in (records, job_records, office_records, schedule_records, step_records)
    for value in vars(module).values()
    if is_dataclass(value) and value.__module__ == module.__name__
]


def schemas() -> dict[str, Any]:
    return dict(document()["components"]["schemas"])


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_the_schema_has_each_field_of_a_record(record: Any) -> None:
    schema = schemas()[NAMES.get(record.__name__, record.__name__)]
    names = {name.replace("_", "").lower() for name in schema["properties"]}
    for field in fields(record):
        if not {field.name, f"{record.__name__}.{field.name}"} & ADDED:
            assert field.name.replace("_", "").lower() in names, field.name


@pytest.mark.parametrize(
    ("options", "schema"),
    [
        (job_records.JobSubmission, "JobSubmissionRequest"),
        (schedule_records.ScheduleOptions, "ScheduleRequest"),
        (schedule_records.ScheduleRule, "PreviewRequest"),
        (schedule_records.ScheduleChanges, "PatchedScheduleRequest"),
        (schedule_records.WorkflowChanges, "PatchedWorkflowRequest"),
        (office_records.ConfigChanges, "JobSchedulerConfig"),
        (step_records.StepOptions, "StepRequest"),
    ],
)
def test_the_schema_has_each_field_of_a_request(options: Any, schema: str) -> None:
    names = set(schemas()[schema]["properties"])
    for name in options.__annotations__:
        assert {name, to_camel(name)} & names, name


def test_the_levels_are_those_of_the_api() -> None:
    assert set(Level.__args__) == set(schemas()["LevelEnum"]["enum"])  # type: ignore[attr-defined]
