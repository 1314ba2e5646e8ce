"""When a workflow runs: immediately, after a delay, at a set time, or again and again.

`schedule_config` is read here and nowhere else. Times without an offset are Korean time.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, available_timezones

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from scheduler.schedules.wallclock import instant_of, wall_of

KOREAN_TIME = "Asia/Seoul"
INSTANT = timedelta(microseconds=1)
# A month with none of its days ends on its last; no rule leaves out more than this.
FARTHEST = timedelta(days=62)
EARLIEST, LATEST = datetime(1970, 1, 2, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


class ConfigError(ValueError):
    """The schedule_config is refused; `errors` says for each field why."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__("; ".join(f"{field}: {' '.join(why)}" for field, why in errors.items()))
        self.errors = errors


@cache
def zones() -> frozenset[str]:
    """Read from the disk once."""
    return frozenset(available_timezones())


def known_zone(name: str) -> str:
    if name not in zones():
        raise ValueError(f"'{name}' is not a time zone; give a name such as Asia/Seoul.")
    return name


def check_written(moment: object) -> object:
    if not isinstance(moment, str | datetime):
        raise ValueError("a time is a text such as 2026-12-01T09:00:00+09:00.")
    return moment


def within_reach(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        moment = instant_of(moment, ZoneInfo(KOREAN_TIME))
    if not EARLIEST <= moment <= LATEST:
        raise ValueError("the time does not lie between 1970 and 2200.")
    return moment


def check_time(text: str) -> str:
    if not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", text, re.ASCII):
        raise ValueError(f"'{text}' is not a time from 00:00 to 23:59, written like 09:00.")
    return text


def check_day(day: object) -> object:
    if day in ("last", None) or (type(day) is int and 1 <= day <= 31):
        return day
    raise ValueError(f"{day!r} is not a day from 1 to 31, nor 'last'.")


class _Config(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Immediate(_Config):
    mode: Literal["immediate"]


class Delayed(_Config):
    mode: Literal["delayed"]
    delay_seconds: Annotated[int, Field(ge=0, le=366 * 86_400, strict=True)]


class Scheduled(_Config):
    mode: Literal["scheduled"]
    at: Annotated[datetime, BeforeValidator(check_written), AfterValidator(within_reach)]


class Recurring(_Config):
    mode: Literal["recurring"]
    pattern: Literal["daily", "weekly", "monthly"]
    time: Annotated[str, AfterValidator(check_time)]
    days_of_week: list[Annotated[int, Field(ge=0, le=6, strict=True)]] | None = None
    day_of_month: Annotated[int | str | None, BeforeValidator(check_day)] = None
    timezone: Annotated[str, AfterValidator(known_zone)] = KOREAN_TIME

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    def runs_on(self, day: date) -> bool:
        if self.pattern == "weekly":
            return day.weekday() in (self.days_of_week or ())
        if self.pattern == "monthly":
            last = (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
            wanted = self.day_of_month if isinstance(self.day_of_month, int) else last.day
            return day.day == min(wanted, last.day)
        return True


ScheduleConfig = Immediate | Delayed | Scheduled | Recurring
_ADAPTER: TypeAdapter[ScheduleConfig] = TypeAdapter(Annotated[ScheduleConfig, Field(discriminator="mode")])


def read(config: object) -> ScheduleConfig:
    """The config, or ConfigError with what is wrong in each field."""
    try:
        read_config = _ADAPTER.validate_python(config)
    except ValidationError as refused:
        raise ConfigError(_by_field(refused)) from None
    if isinstance(read_config, Recurring) and (errors := _unfit_for_pattern(read_config)):
        raise ConfigError(errors)
    return read_config


def _by_field(refused: ValidationError) -> dict[str, list[str]]:
    errors: dict[str, list[str]] = {}
    for problem in refused.errors(include_url=False, include_input=False):
        # The first place is the mode that was chosen; the field follows it.
        field = str(problem["loc"][1]) if len(problem["loc"]) > 1 else "mode"
        why = problem["msg"].removeprefix("Value error, ")
        if field == "mode":
            why = "An object with a mode: immediate, delayed, scheduled or recurring."
        errors.setdefault(field, []).append(why)
    return errors


def _unfit_for_pattern(config: Recurring) -> dict[str, list[str]]:
    errors = {}
    if (config.pattern == "weekly") != bool(config.days_of_week):
        errors["days_of_week"] = ["It belongs to the weekly pattern, which needs at least one day."]
    if (config.pattern == "monthly") != (config.day_of_month is not None):
        errors["day_of_month"] = ["It belongs to the monthly pattern, which needs it."]
    return errors


def next_time(config: ScheduleConfig, activated_at: datetime, after: datetime | None) -> datetime | None:
    """When the workflow runs next, in UTC. `after` is its last turn, or the moment to count from.

    Everything but a recurring workflow has one turn: after it there is none.
    """
    if isinstance(config, Recurring):
        return _recurring_after(config, after or activated_at)
    if isinstance(config, Scheduled):
        turn = config.at.astimezone(UTC)
    else:
        turn = activated_at
        if isinstance(config, Delayed):
            turn += timedelta(seconds=config.delay_seconds)
    return turn if after is None or turn > after else None


def _recurring_after(config: Recurring, moment: datetime) -> datetime | None:
    hour, minute = config.time.split(":")
    at = time(int(hour), int(minute))
    turns = (
        instant_of(datetime.combine(day, at), config.zone)
        for day in _days_from(wall_of(moment, config.zone).date() - timedelta(days=1))
        if config.runs_on(day)
    )
    return next((turn for turn in turns if turn > moment), None)


def _days_from(day: date) -> Iterator[date]:
    last = day + FARTHEST
    while day <= last:
        yield day
        day += timedelta(days=1)
