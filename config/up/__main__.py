"""`python -m config.up`: what `make up` runs once the packages are installed."""

import json
import os
import sys
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config.embedded import CannotStart
from config.embedded.home import open_home
from config.embedded.interruption import Interrupted
from config.embedded.ledger import Ledger
from config.up import box, credentials, named, preflight, procfile, readiness
from config.up.guardian import guarded
from config.up.preflight import CHECKOUT, Wishes
from config.up.procfile import RELEASE, Program
from config.up.stack import Ended, Stack, environment_for_programs
from config.up.steps import BOLD, RED, Steps, paint

STEPS = 7
INSTALL_STEPS = 2
DEMO = Program("demo", "python manage.py demo")


def main() -> int:
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        return up()
    except (CannotStart, ImproperlyConfigured) as reason:
        complain(f"Cannot start: {reason}")
    except Interrupted:
        pass
    except OSError as error:
        complain(f"Cannot go on: {error}.")
    return 1


def up() -> int:
    programs = procfile.read(CHECKOUT / "Procfile")
    release = programs.pop(RELEASE, None)
    wishes = preflight.read()
    home = open_home(wishes.home)
    for name in Ledger(home).end_leftovers():
        print(f"Ended {name}, which the last run had left behind.")
    preflight.check_ports(wishes)
    credentials.withdraw(home)
    stack = Stack(home, list(programs.values()), CHECKOUT)
    try:
        start(stack, wishes, release)
        stack.watch()
    except Interrupted as signal:
        print(f"\n{signal}: stopping everything … (once more: do not wait)", flush=True)
        return 0
    except Ended as end:
        report(end, stack)
    except CannotStart as reason:
        complain(f"Cannot start: {reason}")
    finally:
        if killed := stack.stop():
            complain(f"{', '.join(killed)} did not stop when asked, or not in time, and had to be killed.")
        print("Everything is stopped.", flush=True)
    return 1


def start(stack: Stack, wishes: Wishes, release: Program | None) -> None:
    steps = Steps(STEPS, first=INSTALL_STEPS + 1)
    known = credentials.kept(stack.home, os.environ)
    database_url, redis_url = start_servers(stack, wishes, steps)
    environment = environment_for_programs(
        {
            "DURE_HOME": str(wishes.home),
            "HOST": wishes.host,
            "PORT": str(wishes.port),
            "FLOWER_PORT": str(wishes.flower_port),
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
        },
        known.environment(),
    )
    with steps.step("Migrations"):
        if release:
            stack.finish(stack.begin(release, environment))
    # The programs need some seconds to come up, and the demo data is made meanwhile.
    making_demo = stack.begin(DEMO, environment | known.demo_environment())
    stack.runner.start(environment)
    with steps.step("Demo data", is_noisy=True):
        demo = demo_data(stack.finish(making_demo))
    with steps.step("Processes", is_noisy=True) as told:
        told.append(", ".join(program.name for program in stack.runner.programs))
        stack.wait_until_ready(readiness.checks(stack.runner.programs, wishes, redis_url))
    found = credentials.publish(stack.home, wishes, redis_url, known, demo)
    print(box.draw(found, stack.home), flush=True)


def start_servers(stack: Stack, wishes: Wishes, steps: Steps) -> tuple[str, str]:
    database_url, redis_url = wishes.database_url, wishes.redis_url
    with steps.step("PostgreSQL") as told:
        if database_url:
            told.append("DATABASE_URL")
            named.check_postgres(database_url)
        else:
            told.append("embedded")
            database_url = stack.start_postgres()
    with steps.step("Redis") as told:
        if redis_url:
            told.append("REDIS_URL")
            named.check_redis(redis_url)
        else:
            told.append("embedded (Valkey)")
            redis_url = stack.start_redis()
    return database_url, redis_url


def demo_data(said: str) -> dict[str, Any]:
    try:
        demo = json.loads(said)
        return {"users": demo["users"], "office_id": demo["office_id"]}
    except (ValueError, KeyError, TypeError):
        raise CannotStart("`manage.py demo` did not answer with its users and office.") from None


def report(end: Ended, stack: Stack) -> None:
    complain(f"\n{end.child.name} ended by itself ({end.how}). Its last lines:")
    for line in stack.runner.last_lines(end.child):
        print(f"    {line}", file=sys.stderr)
    log = stack.home.logs / f"{end.child.name}.log"
    complain(f"The whole log: {log}. Stopping everything, for it is not restarted in silence.")


def complain(text: str) -> None:
    shown = paint(text, RED + BOLD) if sys.stderr.isatty() else text
    print(shown, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(guarded(main))
