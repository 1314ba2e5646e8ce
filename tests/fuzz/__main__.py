"""Fuzzes every operation of the API for a while, on a system of its own: `make fuzz ARGS="--minutes 20"`.

Ends with 0 when no answer was a 5xx, none was undocumented, nothing wrong was accepted and nothing right
refused. `--only` names operations, to look at what was found again.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.acceptance.system import System
from tests.fuzz.run import CALLERS, run

# Without throttling: many requests lack credentials on purpose.
UNLIMITED = {"DURE_RATE_USER": "off", "DURE_RATE_ANONYMOUS": "off", "DURE_RATE_REFUSED": "off"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="for each caller")
    parser.add_argument("--as", dest="callers", choices=CALLERS, nargs="+", default=CALLERS)
    parser.add_argument("--examples", type=int, default=100, help="how many requests for each operation")
    parser.add_argument("--seed", type=int, help="to do the same again")
    parser.add_argument("--only", nargs="+", default=[], metavar="OPERATION", help="operation ids")
    selected = parser.parse_args()
    options = [f"--max-examples={selected.examples}"]
    options += [f"--seed={selected.seed}"] if selected.seed is not None else []
    options += [f"--include-operation-id={name}" for name in selected.only]
    os.environ.update(UNLIMITED)
    with tempfile.TemporaryDirectory(prefix="dure-fuzz-") as name:
        folder, failed = Path(name), []
        system = System(folder)
        system.start()
        try:
            for caller in selected.callers:
                ended = run(system, caller, folder, options, seconds=round(selected.minutes * 60))
                print(f"==== as {caller}\n{(folder / 'report').read_text()}", flush=True)
                failed += [caller] if ended.returncode else []
        finally:
            system.stop()
    print(f"found something as {', '.join(failed)}" if failed else "found nothing")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
