"""The overview in Chromium: how much it transfers, and when it first paints, with an empty cache and again.

    make bench ARGS="paint"     or:  python -m tests.bench.paint [--visits 10]

It starts the system as `make up` does, with the demonstration, and signs in once the demonstration's export
has ended, which needs a core of the processor. Each cold visit is a new browser profile that has only the
cookie of the session; the warm visit follows it in the same profile. Then comes a page with one line of text,
which shows what the browser itself needs.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.acceptance.browser import MISSING, Window, find_chromium, launched
from tests.acceptance.system import System
from tests.unit.process_tools import eventually

KIB_COLD, MS_COLD, MS_WARM = 150, 300, 100
EXPORT_SECONDS = 120.0
# One line of text, which the web process answers without Django.
EMPTY_PAGE = "/healthz"
PAINTED = """() => new Promise(resolve => {
    new PerformanceObserver(resolve).observe({type: 'paint', buffered: true});
})"""
MEASURE = """() => {
    const entries = ['navigation', 'resource'].flatMap(kind => performance.getEntriesByType(kind));
    const [paint] = performance.getEntriesByName('first-paint');
    const [page] = performance.getEntriesByType('navigation');
    return [
        entries.reduce((sum, one) => sum + one.transferSize, 0) / 1024,
        entries.reduce((sum, one) => sum + one.decodedBodySize, 0) / 1024,
        paint.startTime,
        page.responseStart,
    ];
}"""


class Visit(NamedTuple):
    """KiB on the wire and decoded; milliseconds until the first paint and the answer's first byte."""

    transferred: float
    decoded: float
    painted: float
    answered: float


def wait_for_export(stack: System) -> None:
    client = stack.client("alice")

    def has_ended() -> bool:
        return all(export["endedAt"] for export in client.get("/api/jobs").json["content"])

    assert eventually(has_ended, EXPORT_SECONDS), "The demonstration's export has not ended."


def visit(page: Any, path: str = "/") -> Visit:
    page.goto(path, wait_until="load")
    if path == "/":
        # The trends come after the page.
        page.locator("#charts svg").first.wait_for()
    page.evaluate(PAINTED)
    return Visit(*page.evaluate(MEASURE))


def visits(browser: Any, stack: System, count: int) -> tuple[list[Visit], ...]:
    """Cold ones, warm ones, and those of the empty page."""
    signed_in = Window(browser, stack, "en")
    signed_in.sign_in("alice")
    session = signed_in.context.storage_state()
    signed_in.context.close()
    measured: tuple[list[Visit], ...] = [], [], []
    for number in range(count + 1):
        window = Window(browser, stack, "en", storage_state=session)
        results = visit(window.page), visit(window.page), visit(window.page, EMPTY_PAGE)
        window.context.close()
        # The first one warms up the server.
        for visits_so_far, result in zip(measured, results, strict=True) if number else ():
            visits_so_far.append(result)
    return measured


def report(
    name: str, measured: Sequence[Visit], most_ms: float | None = None, most_kib: float | None = None
) -> bool:
    medians = Visit(*(statistics.median(column) for column in zip(*measured, strict=True)))
    worst = max(each.painted for each in measured)
    targets = [f"first paint ≤ {most_ms} ms"] if most_ms else []
    targets += [f"transfer ≤ {most_kib} KiB"] if most_kib else []
    print(
        f"{name:5}  first paint {medians.painted:4.0f} ms (worst {worst:.0f}), "
        f"first byte {medians.answered:.0f} ms, transfer {medians.transferred:.1f} KiB, "
        f"decoded {medians.decoded:.1f} KiB" + (f"   (target: {', '.join(targets)})" if targets else "")
    )
    return (most_ms is None or medians.painted <= most_ms) and (
        most_kib is None or medians.transferred <= most_kib
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--visits", type=int, default=10)
    options = parser.parse_args()
    if find_chromium() is None:
        raise SystemExit(MISSING)
    with tempfile.TemporaryDirectory(prefix="dure-paint-") as folder:
        Path(folder).chmod(0o711)
        stack = System(Path(folder))
        try:
            stack.start()
            wait_for_export(stack)
            with launched() as browser:
                cold, warm, empty = visits(browser, stack, options.visits)
        finally:
            stack.stop()
    reached = report("cold", cold, MS_COLD, KIB_COLD), report("warm", warm, MS_WARM)
    report("empty", empty)
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
