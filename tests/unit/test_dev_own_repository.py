"""`dure dev`: one's own programs with those of a checkout, or beside a system that runs already."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from config.dev import Servers, running_servers
from tests.unit.dev_checkout import CHECKOUT, Checkout, Up
from tests.unit.process_tools import eventually

SDK = CHECKOUT / "sdk"
WORKER = """
import os, time
import shop.greeting
print(shop.greeting.TEXT, os.environ["DURE_WORKER_MODULES"], flush=True)
time.sleep(600)
"""


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "dure"
    folder.mkdir()
    checkout = Checkout(folder)
    checkout.programs(web=checkout.script("web", (folder / "web.py").read_text()) + " $PORT")
    yield checkout
    assert checkout.alive() == set()


@pytest.fixture
def own(checkout, tmp_path):
    folder = tmp_path / "shop"
    (folder / "shop").mkdir(parents=True)
    (folder / ".env").write_text("DURE_WORKER_MODULES=shop.greeting\n")
    (folder / "shop" / "greeting.py").write_text("TEXT = 'first'")
    # With the checkout's path on its command line, so that the fixture sees it.
    (folder / "Procfile").write_text(f"worker: {checkout.script('worker', WORKER)}\n")
    return folder


def develop(checkout: Checkout, own: Path, **more: str) -> Up:
    return checkout.start("output-of-dev", RELOAD="1", DURE_OWN_REPOSITORY=str(own), **more)


def test_a_saved_file_of_ones_own_starts_the_workers_again_and_one_of_the_checkout_all_programs(
    checkout, own
):
    web = checkout.script("web", 'print("web starts", flush=True)\n' + (checkout.path / "web.py").read_text())
    checkout.programs(web=f"{web} $PORT")
    up = develop(checkout, own).wait_until_up().wait_for("shop-worker | first shop.greeting")
    (own / "shop" / "greeting.py").write_text("TEXT = 'second'")
    up.wait_for("shop/greeting.py changed").wait_for("shop-worker | second shop.greeting")
    assert up.output.count("web starts") == 1
    (checkout.path / "jobs" / "states.py").touch()
    up.wait_for("jobs/states.py changed")
    assert eventually(lambda: up.output.count("shop-worker | second") == 2)
    assert eventually(lambda: up.output.count("web starts") == 2)
    assert up.stop() == 0


def test_programs_of_an_own_repository_run_beside_a_system_which_goes_on_without_them(checkout, own):
    system = checkout.start().wait_until_up()
    program = (
        develop(checkout, own).wait_for("shop-worker | first").wait_for("Running beside Dure at http://")
    )
    assert "PostgreSQL" not in program.output
    (own / "shop" / "greeting.py").write_text("TEXT = 'second'")
    program.wait_for("shop-worker | second")
    assert program.stop() == 0
    assert system.process.poll() is None
    assert not re.search("changed|worker", system.output)
    (own / "Procfile").unlink()
    refused = develop(checkout, own)
    assert refused.process.wait(60) == 1
    assert "has no Procfile whose programs could run beside it" in refused.output
    assert system.stop() == 0


def test_programs_of_an_own_repository_run_for_a_dure_that_runs_elsewhere(checkout, own, tmp_path):
    system = checkout.start().wait_until_up()
    urls = running_servers(checkout.home) or Servers(os.environ["DATABASE_URL"], os.environ["REDIS_URL"])
    elsewhere = {
        "DURE_ONLY_OWN": "1",
        "DURE_HOME": str(tmp_path / "another"),
        "DATABASE_URL": urls.database,
        "REDIS_URL": urls.redis,
    }
    refused = develop(checkout, own, **elsewhere, DURE_SECRET_KEY="")
    assert refused.process.wait(60) == 1
    assert "--only-own needs DURE_SECRET_KEY: the values of the Dure that runs elsewhere" in refused.output
    program = develop(checkout, own, **elsewhere, DURE_SECRET_KEY="of-the-other-one")
    program.wait_for("shop-worker | first").wait_for("Running with the Redis at 127.0.0.1:")
    assert not re.search("PostgreSQL|demo|web", program.output)
    assert program.stop() == 0
    away = develop(checkout, own, **elsewhere | {"REDIS_URL": "redis://127.0.0.1:1/0"}, DURE_SECRET_KEY="a")
    assert away.process.wait(60) == 1
    assert "REDIS_URL does not answer" in away.output
    assert system.process.poll() is None
    assert system.stop() == 0


def test_a_folder_that_does_not_exist_is_refused(checkout, tmp_path):
    done = checkout.run(DURE_OWN_REPOSITORY=str(tmp_path / "nothing"))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "nothing is not a folder." in done.stderr


def a_checkout(path: Path) -> Path:
    (path / "config" / "dev").mkdir(parents=True)
    (path / "config" / "dev" / "up.py").touch()
    (path / "Makefile").write_text("dev:\n\t@echo $(CURDIR) $$DURE_OWN_REPOSITORY$$DURE_ONLY_OWN\n")
    return path


def command(here: Path, *arguments: str, sdk: Path = SDK, **more: str) -> "subprocess.CompletedProcess[str]":
    inherited = {name: value for name, value in os.environ.items() if name != "DURE_CHECKOUT"}
    return subprocess.run(
        [sys.executable, "-m", "dure", "dev", *arguments],
        cwd=here,
        env={**inherited, "PYTHONPATH": str(sdk), **more},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_command_runs_make_dev_in_the_checkout_that_is_named(tmp_path):
    first, second = a_checkout(tmp_path / "first"), a_checkout(tmp_path / "second")
    (tmp_path / ".env").write_text("A=1\nexport DURE_CHECKOUT = './first'\n")
    assert command(tmp_path).stdout == f"{first} {tmp_path}\n"
    assert command(tmp_path, "--checkout", "second").stdout == f"{second} {tmp_path}\n"
    assert command(tmp_path, DURE_CHECKOUT=str(second)).stdout == f"{second} {tmp_path}\n"
    assert command(tmp_path, "--only-own").stdout == f"{first} {tmp_path}1\n"


def test_the_command_runs_the_checkout_that_the_package_is_linked_from(tmp_path):
    linked = a_checkout(tmp_path / "linked")
    shutil.copytree(SDK / "dure", linked / "sdk" / "dure")
    assert command(tmp_path, sdk=linked / "sdk").stdout == f"{linked} {tmp_path}\n"


def test_the_command_says_what_to_install_where_there_is_no_server(tmp_path):
    shutil.copytree(SDK / "dure", tmp_path / "site-packages" / "somewhere" / "dure")
    alone = command(tmp_path, sdk=tmp_path / "site-packages" / "somewhere")
    assert (alone.returncode, alone.stdout) == (2, "")
    assert "Clone Dure, and write the folder of the clone into the file .env here" in alone.stderr
    wrong = command(tmp_path, "--checkout", "nothing")
    assert wrong.returncode == 2
    assert f"{tmp_path / 'nothing'} is no checkout of Dure" in wrong.stderr
