"""Runs the programs of this folder, each by itself: `make bench ARGS="engine steps"`, or all of them."""

import subprocess
import sys
from importlib import import_module

PROGRAMS = (
    "engine",
    "api",
    "schedules",
    "steps",
    "render",
    "exports",
    "sockets",
    "next_fire",
    "idle",
    "scale",
    "retention",
    "run_logs",
    "searches",
    "paint",
)


def main(names: list[str]) -> int:
    unknown = set(names) - set(PROGRAMS)
    if unknown:
        print(f"There is no bench {', '.join(sorted(unknown))}; there are:", file=sys.stderr)
        for name in PROGRAMS:
            summary = (import_module(f"tests.bench.{name}").__doc__ or "").splitlines()[0]
            print(f"  {name:<10} {summary}", file=sys.stderr)
        return 2
    failed = []
    for name in names or PROGRAMS:
        print(f"\n--- {name} ---", flush=True)
        # A process each: every one sets up a database of its own before it loads Django.
        if subprocess.run([sys.executable, "-m", f"tests.bench.{name}"], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"\ndid not end well: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
