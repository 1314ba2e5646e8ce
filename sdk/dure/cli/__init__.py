"""The command `dure`: works with a Dure server over HTTP, with a token."""

import argparse
import os
import sys
from collections.abc import Sequence

from dure.cli import dev, exports, jobs, login, schedules, tasks, workflows
from dure.cli.arguments import DONE, INTERRUPTED, REFUSED, UNFINISHED, USAGE
from dure.errors import ConfigurationError, DureError, WaitTimeout

DESCRIPTION = (
    "Submits jobs to Dure and watches over them. First sign in: dure login --url https://dure.example"
)
EPILOG = """exit codes:
  0 done    1 the job failed    2 wrong usage    3 the server refused or does not answer
  4 not finished in time    130 interrupted

environment:
  DURE_URL, DURE_TOKEN, DURE_OFFICE   replace what `dure login` saved

examples:
  dure submit demo.sum --arg numbers='[1, 2, 3]' --wait
  dure jobs list --status failed
  dure logs 0199c0de-0000-7000-8000-000000000004 -f
"""


def parser() -> argparse.ArgumentParser:
    command = argparse.ArgumentParser(
        prog="dure",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parsers = command.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (login, tasks, jobs, schedules, workflows, exports, dev):
        module.add(parsers)
    return command


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        code = int(options.run(options))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough. Python would write the rest at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except (DureError, OSError) as error:
        print(f"dure: {error}", file=sys.stderr)
        return _code(error)
    return code


def _code(error: Exception) -> int:
    match error:
        case WaitTimeout():
            return UNFINISHED
        case ConfigurationError() | OSError():
            return USAGE
        case _:
            return REFUSED
