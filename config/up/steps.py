"""Shows what is being done, a line for each step, with a tick and its seconds at the end."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

GREEN, RED, BOLD, DIM, RESET = "\033[32m", "\033[31m", "\033[1m", "\033[2m", "\033[0m"


def is_coloured() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def paint(text: str, colour: str) -> str:
    return f"{colour}{text}{RESET}" if is_coloured() else text


class Steps:
    def __init__(self, total: int, first: int = 1) -> None:
        self.total = total
        self.number = first - 1

    @contextmanager
    def step(self, title: str, *, is_noisy: bool = False) -> Iterator[list[str]]:
        """What is appended to the yielded list is told after the title.

        A noisy step prints lines of its own, so its title must not wait for its tick on the same line.
        """
        self.number += 1
        head = f"[{self.number}/{self.total}] {title}"
        if sys.stdout.isatty():
            print(f"{head} …", end="\n" if is_noisy else "", flush=True)
        told: list[str] = []
        began = time.monotonic()
        try:
            yield told
        except BaseException:
            self._finish(head, told, began, paint("✗", RED))
            raise
        self._finish(head, told, began, paint("✓", GREEN))

    def _finish(self, head: str, told: list[str], began: float, mark: str) -> None:
        line = ", ".join([head, *told]) if told else head
        start = "\r\033[K" if sys.stdout.isatty() else ""
        print(f"{start}{line} {mark} {time.monotonic() - began:.1f} s", flush=True)
