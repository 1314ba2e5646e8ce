"""The seed's JobSchedulerConfig: how an office's settings are shown, checked and changed.

Camel case is the seed's. A change is a JSON merge patch (RFC 7396): what is not named stays, inside the
two maps as well, where null takes a role out. Lists are replaced.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.db import transaction
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
)
from pydantic.alias_generators import to_camel

from jobs import lifecycle, schemas
from jobs.errors import Invalid, pydantic_errors
from jobs.models import Office
from jobs.schemas import WHOLE, OneOf, Role, Strategy
from jobs.states import RETRYABLE

MOST_JOBS_AT_ONCE = 10_000
# The column is a 32-bit integer.
LONGEST_DEFAULT_MS = min(schemas.LONGEST_TIMEOUT_MS, 2**31 - 1)


def _each_once(failures: list[str]) -> list[str]:
    return sorted(set(failures), key=failures.index)


Limit = Annotated[int, Field(ge=0, le=MOST_JOBS_AT_ONCE), WHOLE]
Milliseconds = Annotated[int, Field(ge=1, le=LONGEST_DEFAULT_MS), WHOLE]
Retryable = Annotated[str, OneOf(tuple(str(failure) for failure in RETRYABLE))]


def _without_titles(schema: dict[str, Any]) -> None:
    for described in (schema, *schema["properties"].values()):
        described.pop("title", None)


class JobSchedulerConfig(BaseModel):
    """How many jobs of an office run at once, how long, and how often they are tried."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", strict=True, json_schema_extra=_without_titles
    )

    max_concurrent_jobs: Annotated[
        int,
        Field(ge=1, le=MOST_JOBS_AT_ONCE),
        WHOLE,
        Field(description="Over all roles.", examples=[3]),
    ]
    max_concurrent_by_role: Annotated[
        dict[Role, Limit],
        Field(
            description="A role that is not named has the office's limit; one with 0 does not start.",
            examples=[{"FE": 1, "BE": 2}],
        ),
    ]
    default_timeout: Annotated[Milliseconds, Field(description="In milliseconds.", examples=[1_800_000])]
    default_timeout_by_role: Annotated[
        dict[Role, Milliseconds],
        Field(description="In milliseconds; before `defaultTimeout`.", examples=[{"QA": 2_700_000}]),
    ]
    max_retries: Annotated[
        int,
        Field(ge=0, le=schemas.MOST_RETRIES),
        WHOLE,
        Field(description="Of a job whose Task and submission say nothing of it.", examples=[2]),
    ]
    retry_backoff: Annotated[Strategy, Field(description="How the delays between attempts grow.")]
    retry_base_delay: Annotated[
        int,
        Field(ge=0, le=schemas.LONGEST_DELAY_MS),
        WHOLE,
        Field(description="The first delay, in milliseconds.", examples=[60_000]),
    ]
    retryable_failures: Annotated[
        list[Retryable],
        AfterValidator(_each_once),
        Field(description="Which failure types are tried again by themselves."),
    ]
    paused: Annotated[bool, Field(description="Nothing new starts; what runs goes on.")]

    maps: ClassVar = ("maxConcurrentByRole", "defaultTimeoutByRole")


def patch_schema() -> dict[str, Any]:
    """What a change may look like: nothing is required, and null takes out."""
    schema = JobSchedulerConfig.model_json_schema()
    del schema["required"]
    for name in JobSchedulerConfig.maps:
        values = schema["properties"][name]
        values["type"] = ["object", "null"]
        values["additionalProperties"] |= {"type": ["integer", "null"]}
    return schema


# Which column of the office each setting is kept in, where the name is not the same.
COLUMNS = {"default_timeout": "default_timeout_ms", "retry_base_delay": "retry_base_delay_ms"}


def config_of(office: Office) -> dict[str, Any]:
    return {
        field.alias or name: getattr(office, COLUMNS.get(name, name))
        for name, field in JobSchedulerConfig.model_fields.items()
    }


def change(office_id: UUID, patch: Mapping[str, Any]) -> dict[str, Any]:
    """Changes what is named, and fills the slots that this may have opened. Raises Invalid."""
    with transaction.atomic():
        office = Office.objects.select_for_update(no_key=True).get(pk=office_id)
        config = validated_config(merged(config_of(office), patch))
        columns = [COLUMNS.get(name, name) for name in JobSchedulerConfig.model_fields]
        for name, column in zip(JobSchedulerConfig.model_fields, columns, strict=True):
            setattr(office, column, getattr(config, name))
        office.save(update_fields=columns)
        lifecycle.advance_office(office_id)
    return config_of(office)


def merged(config: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    result = {**config, **patch}
    for name in JobSchedulerConfig.maps:
        given = patch.get(name)
        if isinstance(given, Mapping):
            both = {**config[name], **given}
            # A null at what is no role stays, to be refused.
            result[name] = {
                role: value
                for role, value in both.items()
                if value is not None or role not in settings.DURE_ROLES
            }
        elif given is None and name in patch:
            result[name] = {}
    return result


def validated_config(values: Mapping[str, Any]) -> JobSchedulerConfig:
    try:
        return JobSchedulerConfig.model_validate(values)
    except ValidationError as error:
        raise Invalid(errors=pydantic_errors(error, unknown="unknown_setting")) from None
