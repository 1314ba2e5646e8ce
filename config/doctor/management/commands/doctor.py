"""Checks every dependency and setting, and says how to fix each problem."""

import json
import logging
from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.checks import CheckMessage
from django.core.management.base import BaseCommand, CommandParser, DjangoHelpFormatter

from config.diagnostics import addresses, environment, packages  # noqa: F401 (registers their checks)
from config.doctor import report
from config.oidc import diagnostics as _oidc  # noqa: F401
from exports import diagnostics as _exports  # noqa: F401
from jobs.diagnostics import Subject, postgresql, redis, run  # noqa: F401
from scheduler.diagnostics import maintenance, workers, zones  # noqa: F401

SUBJECTS = (
    Subject("packages"),
    Subject("settings"),
    Subject("time"),
    Subject("postgresql", is_server=True),
    Subject("schema", needs=("postgresql",)),
    Subject("redis", is_server=True),
    Subject("workers", needs=("schema", "redis")),
    Subject("upkeep", needs=("schema",)),
    Subject("outgoing", needs=("schema", "redis")),
    Subject("exports"),
    Subject("addresses"),
    Subject("sign-on"),
)


class Formatter(RawDescriptionHelpFormatter, DjangoHelpFormatter):
    """Keeps each exit code on a line of its own."""


class Command(BaseCommand):
    help = __doc__ or ""
    # Django's checks are among those that run here, and must not end the command.
    requires_system_checks: list[str] = []
    suppressed_base_arguments = {"--version", "--settings", "--pythonpath", "--traceback"}

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(
            prog_name, subcommand, epilog=report.EXIT_CODES, formatter_class=Formatter, **kwargs
        )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="as JSON")
        parser.add_argument("--strict", action="store_true", help="treat warnings as errors")

    def handle(self, *args: Any, **options: Any) -> None:
        # The checks report an outage; libraries would log it as well.
        logging.disable(logging.CRITICAL)
        results: list[report.Result] = []
        try:
            for subject, message in run(SUBJECTS):
                results.append((subject, message))
                if not options["json"]:
                    self.stdout.write("\n".join(self.coloured_lines(subject, message)))
                    self.stdout.flush()
        finally:
            logging.disable(logging.NOTSET)
        if options["json"]:
            self.stdout.write(json.dumps(report.document(results), ensure_ascii=False, indent=2))
        else:
            self.stdout.write(f"\n{report.summary(results)}")
        if code := report.exit_code(results, strict=options["strict"]):
            raise SystemExit(code)

    def coloured_lines(self, subject: str, message: CheckMessage) -> list[str]:
        """The lines of a message, with a coloured level on a terminal."""
        lines = report.lines(subject, message)
        level = report.level(message)
        colours = {
            report.OK: self.style.SUCCESS,
            report.WARN: self.style.WARNING,
            report.BAD: self.style.ERROR,
        }
        return [lines[0].replace(level, colours[level](level), 1), *lines[1:]]
