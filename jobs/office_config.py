"""The v1 contract's JobSchedulerConfig: how an office's settings are read, validated and changed.

The contract uses camel case. A change is a JSON merge patch (RFC 7396): settings that it does not name
stay unchanged, also inside the two maps, where null removes a role. Lists are replaced.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar
from uuid import UUID

from django.db import transaction
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic.alias_generators import to_camel
from pydantic.config import JsonDict

from dure.failures import RETRYABLE
from dure.roles import PATTERN, is_role
from jobs import activity, lifecycle
from jobs.api_model import WHOLE, OneOf
from jobs.errors import Invalid, pydantic_errors
from jobs.field_types import LONGEST_TIMEOUT_MS, Delay, Retries, Role
from jobs.models import Office
from jobs.states import Act, Backoff

MOST_JOBS_AT_ONCE = 10_000
MOST_ROLES = 200
# The column is a 32-bit integer.
LONGEST_DEFAULT_MS = min(LONGEST_TIMEOUT_MS, 2**31 - 1)


def _unique(failures: list[str]) -> list[str]:
    return sorted(set(failures), key=failures.index)


Limit = Annotated[int, Field(ge=0, le=MOST_JOBS_AT_ONCE), WHOLE]
Milliseconds = Annotated[int, Field(ge=1, le=LONGEST_DEFAULT_MS), WHOLE]
Retryable = Annotated[str, OneOf([str(failure) for failure in RETRYABLE])]


# pydantic would write `patternProperties`, which generators of clients ignore.
ROLE_KEYS: JsonDict = {"propertyNames": {"pattern": PATTERN}}


def _remove_titles(schema: dict[str, Any]) -> None:
    for part in (schema, *schema["properties"].values()):
        part.pop("title", None)


class JobSchedulerConfig(BaseModel):
    """Limits, timeouts and retries of an office's jobs."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", strict=True, json_schema_extra=_remove_titles
    )

    max_concurrent_jobs: Annotated[
        int,
        Field(ge=1, le=MOST_JOBS_AT_ONCE),
        WHOLE,
        Field(description="For all roles together.", examples=[3]),
    ]
    max_concurrent_by_role: Annotated[
        dict[Role, Limit],
        Field(
            max_length=MOST_ROLES,
            description="A role without an entry has the office's limit; a role with 0 starts no jobs.",
            examples=[{"FE": 1, "BE": 2}],
            json_schema_extra=ROLE_KEYS,
        ),
    ]
    default_timeout: Annotated[Milliseconds, Field(description="In milliseconds.", examples=[1_800_000])]
    default_timeout_by_role: Annotated[
        dict[Role, Milliseconds],
        Field(
            max_length=MOST_ROLES,
            description="In milliseconds; overrides `defaultTimeout`.",
            examples=[{"QA": 2_700_000}],
            json_schema_extra=ROLE_KEYS,
        ),
    ]
    max_retries: Annotated[
        Retries,
        Field(description="For jobs whose Task and submission set none.", examples=[2]),
    ]
    retry_backoff: Annotated[
        str, OneOf(Backoff.values), Field(description="How the delay grows from retry to retry.")
    ]
    retry_base_delay: Annotated[
        Delay,
        Field(description="The first delay, in milliseconds.", examples=[60_000]),
    ]
    retryable_failures: Annotated[
        list[Retryable],
        AfterValidator(_unique),
        Field(description="The failure types that are retried automatically."),
    ]
    paused: Annotated[bool, Field(description="No job starts; running jobs continue.")]

    maps: ClassVar = ("maxConcurrentByRole", "defaultTimeoutByRole")


def patch_schema() -> dict[str, Any]:
    """The schema of a change, in which no setting is required and null removes an entry."""
    schema = JobSchedulerConfig.model_json_schema()
    del schema["required"]
    for name in JobSchedulerConfig.maps:
        values = schema["properties"][name]
        values["type"] = ["object", "null"]
        values["additionalProperties"] |= {"type": ["integer", "null"]}
    return schema


# The column of each setting, by its name in the contract.
COLUMNS = {to_camel(name): name for name in JobSchedulerConfig.model_fields} | {
    "defaultTimeout": "default_timeout_ms",
    "retryBaseDelay": "retry_base_delay_ms",
}


def config_of(office: Office) -> dict[str, Any]:
    return {name: getattr(office, column) for name, column in COLUMNS.items()}


def change(office_id: UUID, patch: Mapping[str, Any]) -> dict[str, Any]:
    """Change the settings in the patch, and start jobs in slots that this frees. Raises Invalid."""
    with transaction.atomic():
        office = Office.objects.select_for_update(no_key=True).get(pk=office_id)
        before = config_of(office)
        config = validate_config(merge(before, patch))
        for name, value in config.model_dump(by_alias=True).items():
            setattr(office, COLUMNS[name], value)
        office.save(update_fields=list(COLUMNS.values()))
        _record_change(office, before)
        lifecycle.advance_office(office_id)
    return config_of(office)


def _record_change(office: Office, before: Mapping[str, Any]) -> None:
    changes = {name: value for name, value in config_of(office).items() if value != before[name]}
    paused = changes.pop("paused", None)
    if paused is not None:
        activity.record(Act.OFFICE_PAUSED if paused else Act.OFFICE_RESUMED, office=office.pk)
    if changes:
        activity.record(Act.LIMITS_CHANGED, office=office.pk, **changes)


def merge(config: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    result = {**config, **patch}
    for name in JobSchedulerConfig.maps:
        value = patch.get(name)
        if isinstance(value, Mapping):
            combined = {**config[name], **value}
            # A null for what is no role is kept, so that validation rejects it.
            result[name] = {
                role: limit
                for role, limit in combined.items()
                if limit is not None or not (isinstance(role, str) and is_role(role))
            }
        elif value is None and name in patch:
            result[name] = {}
    return result


def validate_config(values: Mapping[str, Any]) -> JobSchedulerConfig:
    try:
        return JobSchedulerConfig.model_validate(values)
    except ValidationError as error:
        raise Invalid(errors=pydantic_errors(error, unknown="unknown_setting")) from None
