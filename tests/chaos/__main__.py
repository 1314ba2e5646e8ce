"""Runs chaos: see the package's docstring."""

import argparse
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.chaos import scenario
from tests.chaos.breakages import NAMES

if TYPE_CHECKING:
    from tests.chaos.cluster import Cluster
    from tests.chaos.workload import Workload

PATIENCE = 180.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario", nargs="?", choices=("faults", "failover"), default="faults")
    parser.add_argument("--asynchronous", action="store_true", help="failover: the standby is behind")
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--faults", type=int, default=30)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--break", dest="broken", choices=NAMES, help="take this guard out")
    parser.add_argument("--only", default="", help="these faults, by name, with commas between")
    parser.add_argument("--burst", action="store_true", help="empty jobs without dependencies, many at once")
    parser.add_argument("--keep", type=Path, help="leave the logs and the history in this folder")
    parser.add_argument(
        "--patience", type=float, default=PATIENCE, help="seconds for the end, after the last fault"
    )
    parser.add_argument("--lease", default="2", help="seconds; a slow machine needs more than 2")
    options = parser.parse_args()
    os.environ["CHAOS_LEASE"] = options.lease
    with tempfile.TemporaryDirectory(prefix="dure-chaos-") as folder:
        if options.scenario == "failover":
            from tests.chaos import failover

            return failover.run(options, Path(folder))
        return run(options, Path(folder))


def run(options: argparse.Namespace, folder: Path) -> int:
    from tests.chaos.cluster import Cluster, Servers
    from tests.chaos.recovery import Recovery

    servers = Servers(folder)
    witness = scenario.prepare(servers, folder, options.broken)
    cluster = Cluster(servers, folder, Recovery())
    try:
        return drive(options, cluster, witness)
    finally:
        cluster.stop()
        servers.stop()
        scenario.keep(options, folder)


def members(value: object) -> object:
    return vars(value) if is_dataclass(value) else str(value)


def drive(options: argparse.Namespace, cluster: "Cluster", witness: Path) -> int:
    from django.db import connection

    from tests.chaos import checker, faults, history
    from tests.chaos.programs import Programs
    from tests.chaos.recovery import Observer
    from tests.chaos.sampler import UNFINISHED, Sampler
    from tests.chaos.workload import Workload

    print(f"chaos: {options.jobs} jobs, {options.faults} faults, seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    work = Workload(options.seed, burst=options.burst)
    sampler, programs, observer = Sampler(), Programs(witness), Observer(cluster)
    for observing in (sampler, programs, observer):
        observing.start()
    stop = threading.Event()
    people = threading.Thread(target=submit, args=(work, options, stop), daemon=True)
    people.start()
    done: Counter[str] = Counter()
    started = time.monotonic()
    kept = 0
    for number in range(options.faults):
        time.sleep(chance.uniform(0.2, 1.2))
        done[faults.inject(cluster, chance, options.only.split(",") if options.only else [])] += 1
        kept += cluster.keep_up()
        if number % 20 == 19:
            print(f"  {number + 1} faults, {time.monotonic() - started:.0f} s", flush=True)
    stop.set()
    people.join(PATIENCE)
    quiet = scenario.wait_for_the_end(options.patience, cluster)
    for observing in (sampler, observer):
        observing.stop()
    connection.close()
    if not quiet:
        with connection.cursor() as cursor:
            cursor.execute(
                UNFINISHED.replace("count(*)", "q.id, q.status, q.on_dependency_failure, q.held, q.due_at")
            )
            print("Not ended when patience was:", *cursor.fetchmany(10), sep="\n  ")
    if kept:
        print(f"{kept} processes ended by themselves and were started again.")
    events = history.read(witness)
    cluster.stop()
    programs.stop()
    programs.end_with_everything()
    events.sampled_excess = sampler.excess
    events.most_held = sampler.most_held
    events.surviving_programs = programs.survivors
    events.recovery = cluster.recovery
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        (options.keep / "history.json").write_text(json.dumps(vars(events), default=members))
    print(f"{programs.started} programs were started by bodies.")
    return report(checker.check(events), checker.figures(events), done, time.monotonic() - started)


def submit(work: "Workload", options: argparse.Namespace, stop: threading.Event) -> None:
    """Submits all jobs, in the first half of the faults, and acts as a person would until the last one."""
    from django.db import DatabaseError, InterfaceError, connection

    left = options.jobs
    pause = 0.4 * options.faults / max(1, options.jobs / 20)
    # Graphs are submitted even if the faults are over; people stop with them.
    while left > 0 or not stop.is_set():
        if left > 0:
            size = min(left, random.Random(left).randint(5, 35) * (10 if options.burst else 1))
            left -= len(work.submit(size))
        try:
            work.act()
        except (DatabaseError, InterfaceError):
            connection.close()
        stop.wait(pause) if left <= 0 else time.sleep(pause)
    work.owners.stop()
    connection.close()


def report(wrong: dict[str, list[str]], figures: dict[str, int], done: Counter[str], seconds: float) -> int:
    print(
        f"{sum(done.values())} faults in {seconds:.0f} s: "
        + ", ".join(f"{n} {name}" for name, n in done.most_common())
    )
    print(", ".join(f"{value} {name}" for name, value in figures.items()))
    return scenario.print_result(wrong)


if __name__ == "__main__":
    sys.exit(main())
