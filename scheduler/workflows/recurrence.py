"""When a workflow runs: immediately, after a delay, at a set time, or recurringly.

`schedule_config` is parsed here only. Times without an offset are Korean time.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from jobs.errors import ErrorText, FieldErrors, InvalidValue, in_english, text_of_pydantic
from scheduler.schedules.timezones import KOREAN_TIME, check_instant, check_zone
from scheduler.schedules.wallclock import instant_of, wall_time

INSTANT = timedelta(microseconds=1)
DAY = timedelta(days=1)
WEEK = timedelta(weeks=1)
# A month without the chosen day ends on its last, so no rule by days or months leaves a longer gap than this.
LONGEST_GAP = timedelta(days=62)
MAX_TIMES = 24
MAX_WEEKS = 52


class ConfigError(ValueError):
    """The schedule_config is not valid; `errors` has the texts of each field."""

    def __init__(self, errors: FieldErrors) -> None:
        super().__init__(
            "; ".join(f"{field}: {' '.join(map(in_english, texts))}" for field, texts in errors.items())
        )
        self.errors = errors


def check_time_type(moment: object) -> object:
    if not isinstance(moment, str | datetime):
        raise InvalidValue("time_text")
    return moment


def check_time_of_day(text: str) -> str:
    if not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", text, re.ASCII):
        raise InvalidValue("time_of_day", text=text)
    return text


def check_day(day: object) -> object:
    if day in ("last", None) or (type(day) is int and 1 <= day <= 31):
        return day
    raise InvalidValue("day_of_month", day=day)


def check_date(text: object) -> date | None:
    if text is None:
        return None
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text, re.ASCII):
        raise InvalidValue("date_example")
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise InvalidValue("date_example") from None
    check_instant(datetime.combine(day, time(), UTC))
    return day


class _Config(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Immediate(_Config):
    mode: Literal["immediate"]


class Delayed(_Config):
    mode: Literal["delayed"]
    delay_seconds: Annotated[int, Field(ge=0, le=366 * 86_400, strict=True)]


class Scheduled(_Config):
    mode: Literal["scheduled"]
    at: Annotated[datetime, BeforeValidator(check_time_type), AfterValidator(check_instant)]


TimeOfDay = Annotated[str, AfterValidator(check_time_of_day)]


class Recurring(_Config):
    mode: Literal["recurring"]
    pattern: Literal["daily", "weekly", "monthly"]
    # One of the two.
    time: TimeOfDay | None = None
    times: Annotated[list[TimeOfDay], Field(min_length=1, max_length=MAX_TIMES)] | None = None
    days_of_week: list[Annotated[int, Field(ge=0, le=6, strict=True)]] | None = None
    # Every n-th week, counted from the week of a date; nothing runs before that date.
    every_weeks: Annotated[int, Field(ge=1, le=MAX_WEEKS, strict=True)] | None = None
    starts_on: Annotated[date | None, BeforeValidator(check_date)] = None
    day_of_month: Annotated[int | str | None, BeforeValidator(check_day)] = None
    timezone: Annotated[str, AfterValidator(check_zone)] = KOREAN_TIME

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def clock_times(self) -> list[str]:
        """The times of a day, in order."""
        return sorted({*(self.times or ()), *([self.time] if self.time else ())})

    @property
    def longest_gap(self) -> timedelta:
        return max(LONGEST_GAP, ((self.every_weeks or 1) + 1) * WEEK)

    def runs_on(self, day: date) -> bool:
        if self.pattern == "weekly":
            return day.weekday() in (self.days_of_week or ()) and self._is_in_week(day)
        if self.pattern == "monthly":
            last = (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
            chosen_day = self.day_of_month if isinstance(self.day_of_month, int) else last.day
            return day.day == min(chosen_day, last.day)
        return True

    def _is_in_week(self, day: date) -> bool:
        if self.every_weeks is None or self.starts_on is None:
            return True
        weeks = (_monday_of(day) - _monday_of(self.starts_on)) // WEEK
        return day >= self.starts_on and weeks % self.every_weeks == 0


def _monday_of(day: date) -> date:
    return day - day.weekday() * DAY


ScheduleConfig = Immediate | Delayed | Scheduled | Recurring
_ADAPTER: TypeAdapter[ScheduleConfig] = TypeAdapter(Annotated[ScheduleConfig, Field(discriminator="mode")])


def read(config: object) -> ScheduleConfig:
    """The parsed config. Raises ConfigError with the errors of each field."""
    try:
        parsed = _ADAPTER.validate_python(config)
    except ValidationError as invalid:
        raise ConfigError(_errors_by_field(invalid)) from None
    if isinstance(parsed, Recurring) and (errors := _pattern_errors(parsed)):
        raise ConfigError(errors)
    return parsed


def _errors_by_field(invalid: ValidationError) -> FieldErrors:
    errors: FieldErrors = {}
    for problem in invalid.errors(include_url=False, include_input=False):
        # The first part of the location is the mode; the field follows it.
        field = str(problem["loc"][1]) if len(problem["loc"]) > 1 else "mode"
        text = ErrorText("config_mode") if field == "mode" else text_of_pydantic(problem)
        errors.setdefault(field, []).append(text)
    return errors


def _pattern_errors(config: Recurring) -> FieldErrors:
    errors = {}
    if (config.pattern == "weekly") != bool(config.days_of_week):
        errors["days_of_week"] = [ErrorText("weekly_days")]
    if (config.pattern == "monthly") != (config.day_of_month is not None):
        errors["day_of_month"] = [ErrorText("monthly_day")]
    if (config.time is None) == (config.times is None):
        errors["time"] = [ErrorText("time_or_times")]
    if config.pattern != "weekly" and config.every_weeks is not None:
        errors["every_weeks"] = [ErrorText("weekly_every")]
    elif (config.every_weeks is None) != (config.starts_on is None):
        errors["every_weeks" if config.every_weeks is None else "starts_on"] = [ErrorText("weekly_every")]
    return errors


def next_time(config: ScheduleConfig, activated_at: datetime, after: datetime | None) -> datetime | None:
    """When the workflow runs next, in UTC. `after` is its last occurrence, or the moment to count from.

    Only a recurring workflow has more than one occurrence.
    """
    if isinstance(config, Recurring):
        return _recurring_after(config, after or activated_at)
    if isinstance(config, Scheduled):
        due = config.at.astimezone(UTC)
    elif isinstance(config, Delayed):
        due = activated_at + timedelta(seconds=config.delay_seconds)
    else:
        due = activated_at
    return due if after is None or due > after else None


def upcoming_times(
    config: ScheduleConfig, now: datetime, count: int, *, activated_at: datetime | None = None
) -> list[datetime]:
    """When a workflow that is activated `now`, or was before, runs from now on, up to `count` times."""
    activated_at = activated_at or now
    dues: list[datetime] = []
    due = next_time(config, activated_at, now if isinstance(config, Recurring) else None)
    while due is not None and len(dues) < count:
        dues.append(due)
        due = next_time(config, activated_at, due)
    return [due for due in dues if due >= now]


def wall_times(config: Recurring, day: date) -> list[datetime]:
    """The local times of a day at which it runs, if it runs on that day."""
    return [datetime.combine(day, time.fromisoformat(text)) for text in config.clock_times]


def _recurring_after(config: Recurring, moment: datetime) -> datetime | None:
    first = wall_time(moment, config.zone).date() - DAY
    if config.starts_on is not None:
        first = max(first, config.starts_on)
    for day in _days_from(first, config.longest_gap):
        if config.runs_on(day):
            # Sorted again: a time that the clock skips runs after the gap, maybe later than the next one.
            dues = sorted(instant_of(wall, config.zone) for wall in wall_times(config, day))
            due = next((due for due in dues if due > moment), None)
            if due is not None:
                return due
    return None


def _days_from(day: date, gap: timedelta) -> Iterator[date]:
    last = day + gap
    while day <= last:
        yield day
        day += DAY
