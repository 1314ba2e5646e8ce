"""What can be told when the settings refuse to load: that, and whatever needs none of them.

`manage.py` comes here with every command that then cannot run; the doctor still looks around.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence

from config.doctor import packages, report
from config.doctor.finding import Finding, bad, warn
from config.doctor.names import known_variables, unknown_variables

DOCTOR = "doctor"
ADVICE = "set what it names, and look again; docs/configuration.md explains each variable"


def end(arguments: Sequence[str], problem: Exception) -> int:
    """Says it, in lines without a traceback; the exit code."""
    if arguments[:1] != [DOCTOR]:
        print(f"Cannot start: {report.clean_lines(str(problem))}", file=sys.stderr)
        return 1
    told = list(findings(problem))
    if "--json" in arguments:
        print(json.dumps(report.document(told), ensure_ascii=False, indent=2))
    else:
        print("\n".join(line for subject, one in told for line in report.lines(subject, one)))
        print(f"\n{report.summary(told)}")
    return report.exit_code(told, strict=False)


def findings(problem: Exception) -> Iterator[tuple[str, Finding]]:
    for finding in packages.checks():
        yield "packages", finding
    for line in str(problem).splitlines():
        if line.startswith(" ") or len(str(problem).splitlines()) == 1:
            yield "settings", bad("settings", line.strip(), ADVICE)
    for finding in unknown_variables(os.environ, known_variables()):
        yield "settings", finding
    yield "settings", warn("servers", "not looked at, because of the settings", "mend that, and look again")
