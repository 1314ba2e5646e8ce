"""A rule in plain words, Korean or English: "월요일부터 금요일까지 09:00", "Monday to Friday at 09:00".

The words say everything that the rule says: two rules that fire at different times read differently.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from zoneinfo import ZoneInfo

from scheduler.schedules.cron import Cron, parse
from scheduler.schedules.cron_fields import LAST_DAY, LAST_WEEKDAY
from scheduler.schedules.rules import Kind, Rule
from scheduler.schedules.timezones import KOREAN_TIME
from scheduler.workflows.recurrence import (
    Delayed,
    Immediate,
    Recurring,
    ScheduleConfig,
    Scheduled,
)

NTH_KO = {1: "첫째", 2: "둘째", 3: "셋째", 4: "넷째", 5: "다섯째", -1: "마지막"}
NTH_EN = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last"}
MONTH_ENDS_KO = {LAST_DAY: "말일", LAST_WEEKDAY: "마지막 평일(월~금)"}
MONTH_ENDS_EN = {LAST_DAY: "the last day", LAST_WEEKDAY: "the last day from Monday to Friday"}
LISTED_TIMES = 6  # more than this are timing by minute and hour
MONDAY_FIRST = {"ko": "월화수목금토일", "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"}
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def rule_in_words(rule: Rule, language: str) -> str:
    korean = language.startswith("ko")
    if rule.kind == Kind.CRON:
        return cron_in_words(parse(rule.cron), language) + _zone(rule.zone.key)
    if rule.kind == Kind.INTERVAL:
        return (
            _duration(rule.every_seconds, korean) + "마다"
            if korean
            else "every " + _duration(rule.every_seconds)
        )
    when = _moment(rule.at, rule.zone) + _zone(rule.zone.key)
    return f"{when} 한 번" if korean else f"once, at {when}"


def config_in_words(config: ScheduleConfig, language: str) -> str:
    korean = language.startswith("ko")
    if isinstance(config, Immediate):
        return "활성화하면 바로 한 번" if korean else "once, as soon as it is active"
    if isinstance(config, Delayed):
        delay = _duration(config.delay_seconds, korean)
        return f"활성화하고 {delay} 뒤 한 번" if korean else f"once, {delay} after it becomes active"
    if isinstance(config, Scheduled):
        when = _moment(config.at, ZoneInfo(KOREAN_TIME))
        return f"{when} 한 번" if korean else f"once, at {when}"
    days = _recurring_days(config, korean)
    times = _join(config.clock_times, korean)
    return (f"{days} {times}" if korean else f"{days} at {times}") + _from_week(config, korean)


def _from_week(config: Recurring, korean: bool) -> str:
    zone = _zone(config.timezone)
    if config.starts_on is None:
        return zone
    return f"({config.starts_on}부터){zone}" if korean else f", from {config.starts_on}{zone}"


def cron_in_words(cron: Cron, language: str) -> str:
    korean = language.startswith("ko")
    minutes, hours, _, months, _ = cron.values
    seconds = cron.seconds
    month_name: Callable[[int], str] = "{}월".format if korean else lambda month: MONTHS[month - 1]
    in_months = "" if len(months) == 12 else _list(months, month_name, korean)
    days = _days(cron, korean, "" if in_months else "매월 ")
    if len(minutes) * len(hours) * len(seconds) <= LISTED_TIMES:
        times = [
            f"{hour:02}:{minute:02}" + (f":{second:02}" if seconds != {0} else "")
            for hour in sorted(hours)
            for minute in sorted(minutes)
            for second in sorted(seconds)
        ]
        timing = _join(times, korean) if korean else f"at {_join(times, korean)}"
        days = days or ("매일" if korean else "every day")
    elif seconds != {0}:
        timing = (_seconds_ko if korean else _seconds_en)(seconds, minutes, hours)
    else:
        timing = _rhythm_ko(minutes, hours) if korean else _rhythm_en(minutes, hours)
    if korean:
        return " ".join(part for part in (in_months, days, timing) if part)
    return ", ".join(part for part in (timing, days, f"in {in_months}" if in_months else "") if part)


def _rhythm_en(minutes: Collection[int], hours: Collection[int]) -> str:
    step, step_of_hours = _step(minutes, 60), _step(hours, 24)
    if step:
        timing = "every minute" if step == 1 else f"every {step} minutes"
        if step_of_hours == 1:
            return timing
        if step_of_hours:
            return f"{timing}, in every {_ordinal(step_of_hours)} hour from 0"
        return f"{timing}, in hour {_list(hours, str, False)}"
    timing = "" if set(minutes) == {0} else f", at minute {_list(minutes, str, False)}"
    if step_of_hours:
        return ("every hour" if step_of_hours == 1 else f"every {step_of_hours} hours from 0") + timing
    return f"at minute {_list(minutes, str, False)}, in hour {_list(hours, str, False)}"


def _rhythm_ko(minutes: Collection[int], hours: Collection[int]) -> str:
    step, step_of_hours = _step(minutes, 60), _step(hours, 24)
    if step:
        timing = f"{step}분마다"
        if step_of_hours == 1:
            return timing
        if step_of_hours:
            return f"0시부터 {step_of_hours}시간 간격의 시간대에 {timing}"
        return f"{_list(hours, '{}시'.format, True)} 시간대에 {timing}"
    timing = "정각" if set(minutes) == {0} else _list(minutes, "{}분".format, True)
    if step_of_hours:
        return ("매시 " if step_of_hours == 1 else f"0시부터 {step_of_hours}시간마다 ") + timing
    return f"{_list(hours, '{}시'.format, True)} 매시 {timing}"


def _seconds_en(seconds: Collection[int], minutes: Collection[int], hours: Collection[int]) -> str:
    step = _step(seconds, 60)
    timing = f"at second {_list(seconds, str, False)}"
    if step:
        timing = "every second" if step == 1 else f"every {step} seconds"
    parts = [timing, _within_en("minute", minutes, 60), _within_en("hour", hours, 24)]
    if not step and len(minutes) == 60:
        parts[1] = "in every minute"
    return ", ".join(filter(None, parts))


def _within_en(unit: str, values: Collection[int], size: int) -> str:
    """The minutes or hours that a rule is limited to; empty for all."""
    step = _step(values, size)
    if step:
        return "" if step == 1 else f"in every {_ordinal(step)} {unit} from 0"
    return f"in {unit} {_list(values, str, False)}"


def _seconds_ko(seconds: Collection[int], minutes: Collection[int], hours: Collection[int]) -> str:
    step, step_of_minutes, step_of_hours = _step(seconds, 60), _step(minutes, 60), _step(hours, 24)
    timing = f"{step}초마다" if step else _list(seconds, "{}초".format, True)
    if step_of_minutes == 1:
        in_minutes = "" if step else "매분"
    elif step_of_minutes:
        in_minutes = f"0분부터 {step_of_minutes}분 간격으로"
    else:
        in_minutes = _list(minutes, "{}분".format, True)
        in_minutes += "" if in_minutes.endswith("까지") else "에"
    if step_of_hours == 1:
        in_hours = "" if step_of_minutes == 1 else "매시"
    elif step_of_hours:
        in_hours = f"0시부터 {step_of_hours}시간 간격의 시간대에"
    else:
        in_hours = f"{_list(hours, '{}시'.format, True)} 시간대에"
    return " ".join(filter(None, (in_hours, in_minutes, timing)))


def _days(cron: Cron, korean: bool, every_month: str) -> str:
    """The days it runs on, empty when on every day."""
    month_days, week_days = cron.values[2], cron.values[4]
    of_month = "" if len(month_days) == 31 else _days_of_month(cron, korean, every_month)
    of_week = "" if len(week_days) == 7 else _weekdays({(day - 1) % 7 for day in week_days}, korean)
    nth = [_nth_day(day, number, korean) for day, number in sorted(cron.nth_days)]
    in_week = _join([*([of_week] if of_week else []), *nth], korean) if len(week_days) < 7 else ""
    if cron.stars[2] or cron.stars[4]:
        if of_month and in_week:
            return f"{of_month} 중 {in_week}" if korean else f"{of_month}, if it is {in_week}"
        return of_month or (_every(of_week, nth) if korean else in_week)
    if not of_month or not in_week:
        return ""
    return f"{of_month} 또는 {_every(of_week, nth)}" if korean else f"{of_month}, or on {in_week}"


def _every(of_week: str, nth: list[str]) -> str:
    """Korean names the period first: each week, or each month."""
    return ", ".join([*([f"매주 {of_week}"] if of_week else []), *(f"매월 {day}" for day in nth)])


def _nth_day(day: int, number: int, korean: bool) -> str:
    name = _weekdays({(day - 1) % 7}, korean)
    if korean:
        return f"{NTH_KO[number]} {name}"
    return f"the {NTH_EN[number]} {name} of the month"


def _recurring_days(config: Recurring, korean: bool) -> str:
    if config.pattern == "weekly":
        days = _weekdays(set(config.days_of_week or ()), korean)
        if (config.every_weeks or 1) > 1:
            weeks = config.every_weeks
            return f"{weeks}주마다 {days}" if korean else f"every {weeks} weeks on {days}"
        return f"매주 {days}" if korean else f"every {days}"
    if config.pattern == "daily":
        return "매일" if korean else "every day"
    day = config.day_of_month
    if day == "last":
        return "매월 말일" if korean else "on the last day of every month"
    if isinstance(day, int) and day > 28:
        return f"매월 {day}일(없으면 말일)" if korean else f"on day {day} of every month (or its last day)"
    return f"매월 {day}일" if korean else f"on day {day} of every month"


def _days_of_month(cron: Cron, korean: bool, every_month: str) -> str:
    days, ends, nearest = cron.values[2], sorted(cron.month_ends), sorted(cron.nearest_weekdays)
    if korean:
        parts = [_list(days, "{}일".format, True)] if days else []
        parts += [f"{day}일에 가장 가까운 평일(월~금)" for day in nearest]
        return every_month + ", ".join(parts + [MONTH_ENDS_KO[end] for end in ends])
    parts = [f"day {_list(days, str, False)}"] if days else []
    parts += [f"the day from Monday to Friday nearest to day {day}" for day in nearest]
    return f"on {_join(parts + [MONTH_ENDS_EN[end] for end in ends], False)} of the month"


def _weekdays(days: Collection[int], korean: bool) -> str:
    if korean:
        return _list(days, lambda day: MONDAY_FIRST["ko"][day] + "요일", True)
    return _list(days, MONDAY_FIRST["en"].split().__getitem__, False)


def _list(values: Collection[int], name: Callable[[int], str], korean: bool) -> str:
    """The values by name, three and more in a row as a span."""
    parts = []
    for first, last in _spans(sorted(values)):
        if last - first >= 2:
            span = (name(first), name(last))
            parts.append("{}부터 {}까지".format(*span) if korean else "{} to {}".format(*span))
        else:
            parts.extend(name(value) for value in range(first, last + 1))
    return _join(parts, korean)


def _spans(values: list[int]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for value in values:
        if spans and spans[-1][1] == value - 1:
            spans[-1] = (spans[-1][0], value)
        else:
            spans.append((value, value))
    return spans


def _join(parts: list[str], korean: bool) -> str:
    if korean or len(parts) < 2:
        return ", ".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _step(values: Collection[int], size: int) -> int:
    """The step that the values take from 0 all around, or 0."""
    step = size // len(values) if len(values) > 1 else size + 1
    return step if size % step == 0 and set(values) == set(range(0, size, step)) else 0


def _ordinal(number: int) -> str:
    return {2: "2nd", 3: "3rd"}.get(number, f"{number}th")


def _duration(seconds: int, korean: bool = False) -> str:
    for size, ko, en in ((3600, "시간", "hour"), (60, "분", "minute"), (1, "초", "second")):
        if seconds and seconds % size == 0:
            count = seconds // size
            return f"{count}{ko}" if korean else f"{count} {en}{'s' * (count != 1)}"
    return "0초" if korean else "0 seconds"


def _moment(at: datetime | None, zone: ZoneInfo) -> str:
    return at.astimezone(zone).strftime("%Y-%m-%d %H:%M") if at else "?"


def _zone(name: str) -> str:
    return "" if name == KOREAN_TIME else f" ({name})"
