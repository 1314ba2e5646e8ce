"""Runs the programs of the Procfile in the foreground: reads what they say, and notices when one ends."""

import os
import selectors
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from config.embedded import child, interruption
from config.embedded.child import Child, Farewell
from config.embedded.home import Home
from config.embedded.ledger import Ledger
from config.up import orphans
from config.up.output import Screen, Voice
from config.up.procfile import Program

TICK_SECONDS = 0.1
# Longer than a worker drains (DURE_DRAIN_SECONDS) and hands back, and the web finishes its requests.
STOP_SECONDS = 14.0


@dataclass
class Running:
    child: Child
    voice: Voice


class Runner:
    def __init__(self, home: Home, ledger: Ledger, programs: Sequence[Program], checkout: Path) -> None:
        self.home = home
        self.ledger = ledger
        self.programs = programs
        self.checkout = checkout
        self.screen = Screen([program.name for program in programs])
        self.running: list[Running] = []
        self.selector = selectors.DefaultSelector()

    def start(self, environment: Mapping[str, str]) -> None:
        for program in self.programs:
            read_end, write_end = os.pipe()
            try:
                started = child.start(
                    program.name,
                    program.arguments,
                    output=write_end,
                    env=environment,
                    cwd=self.checkout,
                    farewell=Farewell(steps=((signal.SIGTERM, STOP_SECONDS),)),
                )
            finally:
                os.close(write_end)
            voice = Voice(program.name, self.screen, self.home.logs / f"{program.name}.log")
            self.running.append(Running(started, voice))
            self.selector.register(read_end, selectors.EVENT_READ, voice)
            self.ledger.add(started)

    def pump(self, seconds: float = TICK_SECONDS) -> None:
        """Hears what is said within this time, at most; sleeps when nobody says anything."""
        if not self.selector.get_map():
            time.sleep(seconds)
            return
        for key, _ in self.selector.select(seconds):
            data = os.read(key.fd, 65_536)
            if data:
                key.data.hear(data)
            else:
                self.selector.unregister(key.fd)
                os.close(key.fd)

    def first_ended(self, servers: Sequence[Child]) -> Child | None:
        everyone = [running.child for running in self.running] + list(servers)
        orphans.bury({one.pid for one in everyone})
        return next((one for one in everyone if one.has_ended()), None)

    def watch(self, servers: Sequence[Child]) -> Child:
        """Goes on until one of them ends by itself. Raises Interrupted when asked to stop."""
        while True:
            interruption.check()
            self.pump()
            if ended := self.first_ended(servers):
                self.pump(0)
                return ended

    def last_lines(self, ended: Child) -> list[str]:
        for running in self.running:
            if running.child is ended:
                return list(running.voice.last)
        log = self.home.logs / f"{ended.name}.log"
        return log.read_text(errors="replace").splitlines()[-15:] if log.exists() else []

    def stop(self) -> list[str]:
        """Ends them all; answers who had to be killed."""
        killed = child.stop([running.child for running in self.running], self.pump)
        self.pump(0)  # their last words
        for running in self.running:
            running.voice.close()
        self.running.clear()
        return killed
