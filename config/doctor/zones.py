"""Time zones: schedules are judged by the data of this machine, or of the package tzdata."""

from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from zoneinfo import TZPATH, ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings

from config.doctor.finding import Finding, bad, ok
from scheduler.models import Schedule

ADVICE = "install the system's tzdata, or the locked packages, which have it too"


def checks() -> Iterator[Finding]:
    yield zones({settings.TIME_ZONE, "UTC"})


def of_schedules() -> Iterator[Finding]:
    """Those that schedules name; asks the database."""
    yield zones(Schedule.objects.order_by().values_list("timezone", flat=True).distinct(), "zones in use")


def zones(names: Iterable[str], name: str = "zones") -> Finding:
    wanted = sorted(set(names))
    missing = [zone for zone in wanted if not is_known(zone)]
    if missing:
        return bad(name, f"no data for {', '.join(missing)}", ADVICE)
    return ok(name, f"{', '.join(wanted) or 'none'} ({source()})")


def is_known(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def source() -> str:
    """Where zoneinfo finds them: the system's come before the package's."""
    folder = next((path for path in TZPATH if (Path(path) / "Asia" / "Seoul").exists()), None)
    if folder is not None:
        return f"from {folder}"
    try:
        return f"from the package tzdata {metadata.version('tzdata')}"
    except metadata.PackageNotFoundError:
        return "from nowhere"
