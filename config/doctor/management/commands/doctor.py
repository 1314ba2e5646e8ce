"""Checks every dependency and setting, and says what to do about what is not as it should be."""

import json
import logging
from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandParser, DjangoHelpFormatter

from config.doctor import checkup, report
from config.doctor.finding import Finding, Level


class Formatter(RawDescriptionHelpFormatter, DjangoHelpFormatter):
    """Keeps the lines of the exit codes apart."""


class Command(BaseCommand):
    help = __doc__ or ""
    # They are among what is looked at here, and must not end it.
    requires_system_checks: list[str] = []
    suppressed_base_arguments = {"--version", "--settings", "--pythonpath", "--traceback"}

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(
            prog_name, subcommand, epilog=report.EXIT_CODES, formatter_class=Formatter, **kwargs
        )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="as JSON")
        parser.add_argument("--strict", action="store_true", help="take a warning for as bad as what is bad")

    def handle(self, *args: Any, **options: Any) -> None:
        # What a library has to say of a server that is away is found and told here.
        logging.disable(logging.CRITICAL)
        try:
            told = []
            for subject, finding in checkup.examine():
                told.append((subject, finding))
                if not options["json"]:
                    self.stdout.write("\n".join(self.coloured(report.lines(subject, finding), finding)))
                    self.stdout.flush()
        finally:
            logging.disable(logging.NOTSET)
        if options["json"]:
            self.stdout.write(json.dumps(report.document(told), ensure_ascii=False, indent=2))
        else:
            self.stdout.write(f"\n{report.summary(told)}")
        if code := report.exit_code(told, strict=options["strict"]):
            raise SystemExit(code)

    def coloured(self, lines: list[str], finding: Finding) -> list[str]:
        """On a terminal the first word is, and only that: it says the same without."""
        paint = {Level.OK: self.style.SUCCESS, Level.WARN: self.style.WARNING, Level.BAD: self.style.ERROR}
        word = str(finding.level)
        return [lines[0].replace(word, paint[finding.level](word), 1), *lines[1:]]
