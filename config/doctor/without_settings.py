"""The output of `manage.py` if the settings do not load; `doctor` still runs the checks that need none."""

import json
import os
import sys
from collections.abc import Iterator, Sequence

from config.diagnostics import environment, packages
from config.doctor import report
from jobs.diagnostics import error, warning

HINT = "set what it names, and run this again; docs/configuration.md explains each variable"


def exit_code(arguments: Sequence[str], problem: Exception) -> int:
    """Prints the problem in lines without a traceback, and returns the exit code."""
    if arguments[:1] != ["doctor"]:
        print(f"Cannot start: {report.clean_lines(str(problem))}", file=sys.stderr)
        return 1
    results = list(run_checks(problem))
    if "--json" in arguments:
        print(json.dumps(report.document(results), ensure_ascii=False, indent=2))
    else:
        print("\n".join(line for subject, message in results for line in report.lines(subject, message)))
        print(f"\n{report.summary(results)}")
    return report.exit_code(results, strict=False)


def run_checks(problem: Exception) -> Iterator[report.Result]:
    for message in packages.check_installation():
        yield "packages", message
    lines = str(problem).splitlines()
    for line in lines:
        if line.startswith(" ") or len(lines) == 1:
            yield "settings", error("settings", line.strip(), HINT)
    for message in environment.check_variables(os.environ, environment.known_variables()):
        yield "settings", message
    text = "not checked, because of the settings"
    yield "settings", warning("servers", text, "fix that, and run this again")
