"""The findings as lines and as JSON, and the exit code that they come to."""

from collections.abc import Sequence
from typing import Any

from config.doctor.finding import Finding, Level, worst
from config.logs import on_one_line, redacted

ALL_OK, WARNINGS, SOMETHING_BAD = 0, 1, 2
EXIT_CODES = """exit codes:
  0  all is well
  1  there are warnings, and nothing is bad
  2  something is bad, or with --strict there are warnings"""

Told = tuple[str, Finding]


def lines(subject: str, one: Finding) -> list[str]:
    first = f"{one.level:<5} {subject:<11} {one.name:<15} {clean(one.found)}"
    return [first, f"{'':<34}→ {clean(one.advice)}"] if one.advice else [first]


def clean(text: str) -> str:
    """On one line, and without what drivers and URLs may have brought along."""
    return on_one_line(redacted(text))


def clean_lines(text: str) -> str:
    return "\n".join(clean(line) for line in text.splitlines())


def summary(told: Sequence[Told]) -> str:
    counts = {level: sum(one.level == level for _, one in told) for level in Level}
    return f"{counts[Level.OK]} ok, {counts[Level.WARN]} to look at, {counts[Level.BAD]} bad"


def document(told: Sequence[Told]) -> dict[str, Any]:
    return {
        "status": worst(one for _, one in told),
        "findings": [
            {
                "level": one.level,
                "subject": subject,
                "name": one.name,
                "found": clean(one.found),
                "advice": clean(one.advice) or None,
            }
            for subject, one in told
        ],
    }


def exit_code(told: Sequence[Told], *, strict: bool) -> int:
    level = worst(one for _, one in told)
    if level == Level.WARN:
        return SOMETHING_BAD if strict else WARNINGS
    return SOMETHING_BAD if level == Level.BAD else ALL_OK
