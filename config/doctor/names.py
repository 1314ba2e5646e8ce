"""Variables that were meant to be settings: a name that nothing reads is a typo, as a rule."""

import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from config.doctor.finding import Finding, ok, warn

OURS = "DURE_"
# Read where a variable is read, in whatever way: by env.text(…), os.environ or the name of a constant.
NAME = re.compile(rf'"({OURS}[A-Z0-9_]+)"')
# Read by compose.yaml and by nothing of ours.
FOREIGN = {"DURE_IMAGE"}
PACKAGES = ("config", "jobs", "scheduler", "exports", "workers")
CHECKOUT = Path(__file__).resolve().parents[2]


def unknown_variables(given: Mapping[str, str], known: Collection[str]) -> Iterator[Finding]:
    """A name that nothing reads is a typo as a rule, and the setting has its default."""
    unknown = sorted(name for name in given if name.startswith(OURS) and name not in known)
    for name in unknown:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
        meant = f"you may have meant {near[0]}" if near else "docs/configuration.md has the names"
        yield warn("variables", f"{name} is set, and nothing reads it", meant)
    if not unknown:
        count = sum(name.startswith(OURS) for name in given)
        yield ok("variables", f"{count} of ours are set, each known" if count else "none of ours is set")


def known_variables() -> set[str]:
    found = set(FOREIGN)
    for package in PACKAGES:
        for path in (CHECKOUT / package).rglob("*.py"):
            found.update(NAME.findall(path.read_text()))
    return found
