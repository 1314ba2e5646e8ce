"""Reads and writes the streams of exports until a signal stops it. Any number of listeners may run."""

import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from exports import streams
from exports.listener import Listener, run


class Command(BaseCommand):
    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--name", default="", help="of this consumer; the host and the process by default"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        listener = Listener(streams.connect(settings.REDIS_URL), options["name"])
        self.stdout.write(f"{listener.name} listens to {', '.join(listener.streams)}")
        run(listener, stop.is_set)
