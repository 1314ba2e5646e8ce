"""What a check has found: fine, worth a look, or broken; in words, and with what to do about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    BAD = "bad"


WORSE = (Level.OK, Level.WARN, Level.BAD)


@dataclass(frozen=True)
class Finding:
    level: Level
    name: str
    found: str
    advice: str = ""


def ok(name: str, found: str) -> Finding:
    return Finding(Level.OK, name, found)


def warn(name: str, found: str, advice: str) -> Finding:
    return Finding(Level.WARN, name, found, advice)


def bad(name: str, found: str, advice: str) -> Finding:
    return Finding(Level.BAD, name, found, advice)


def worst(findings: Iterable[Finding]) -> Level:
    return max((one.level for one in findings), key=WORSE.index, default=Level.OK)
