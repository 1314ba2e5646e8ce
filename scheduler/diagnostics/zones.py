"""The data of the time zones that schedules use."""

from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from zoneinfo import TZPATH, ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.core.checks import CheckMessage

from jobs.diagnostics import error, ok, register


@register("time")
def check_own_zones() -> Iterator[CheckMessage]:
    yield check_zones({settings.TIME_ZONE, "UTC"})


def check_zones(names: Iterable[str], name: str = "zones") -> CheckMessage:
    """Schedules use the time zone data of this machine, or of the package tzdata."""
    zones = sorted(set(names))
    missing = [zone for zone in zones if not _has_data(zone)]
    if missing:
        hint = "install the system's tzdata, or the locked packages, which include it"
        return error(name, f"no data for {', '.join(missing)}", hint)
    return ok(name, f"{', '.join(zones) or 'none'} ({_zone_source()})")


def _has_data(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _zone_source() -> str:
    """zoneinfo prefers the system's data to the package's."""
    folder = next((path for path in TZPATH if (Path(path) / "Asia" / "Seoul").exists()), None)
    if folder is not None:
        return f"from {folder}"
    try:
        return f"from the package tzdata {metadata.version('tzdata')}"
    except metadata.PackageNotFoundError:
        return "from no source"
