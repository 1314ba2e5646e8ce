"""`dure dev`."""

import os
import re
from pathlib import Path

import dure
from dure.cli.arguments import Options, Parsers
from dure.errors import ConfigurationError

VARIABLE = "DURE_CHECKOUT"
TEXT = "run Dure and your Tasks on this machine, and start them again when you save a file"
DESCRIPTION = f"""{TEXT[0].upper() + TEXT[1:]}.

It starts what `make dev` starts in a checkout of Dure, with the Tasks of this folder, and the programs of the
Procfile here. If that Dure runs already, it starts the programs of the Procfile beside it. Ctrl-C stops them.
With --only-own it starts those alone, for a Dure of the same release that runs elsewhere: it needs its
DATABASE_URL, REDIS_URL and DURE_SECRET_KEY.
The file .env here sets variables, such as {VARIABLE} and DURE_WORKER_MODULES."""
NO_CHECKOUT = f"""Dure's server is not here: this package has the client, the decorators and what tests need.
Clone Dure, and write the folder of the clone into the file .env here: {VARIABLE}=/path/to/dure"""


def add(parsers: Parsers) -> None:
    parser = parsers.add_parser("dev", help=TEXT, description=DESCRIPTION)
    parser.add_argument("--checkout", metavar="FOLDER", help=f"the checkout of Dure; default: {VARIABLE}")
    parser.add_argument(
        "--only-own", action="store_true", help="start the programs here for a Dure that runs elsewhere"
    )
    parser.set_defaults(run=run)


def run(options: Options) -> int:
    here = Path.cwd()
    checkout = find_checkout(options.checkout, here)
    environment = {**os.environ, "DURE_OWN_REPOSITORY": str(here)}
    if options.only_own:
        environment["DURE_ONLY_OWN"] = "1"
    command = ["make", "--no-print-directory", "-C", str(checkout), "dev"]
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606 - a list of our own, without a shell
    except FileNotFoundError:
        raise ConfigurationError("`dure dev` needs the program make: install it.") from None


def find_checkout(named: str | None, here: Path) -> Path:
    """The checkout that is named, else the one that this package is linked from."""
    name = named or os.environ.get(VARIABLE) or _in_file(here / ".env")
    if name:
        checkout = (here / Path(name).expanduser()).resolve()
        if not _is_checkout(checkout):
            raise ConfigurationError(f"{checkout} is no checkout of Dure: see --checkout and {VARIABLE}.")
        return checkout
    linked = Path(dure.__file__).resolve().parents[2]
    if not _is_checkout(linked):
        raise ConfigurationError(NO_CHECKOUT)
    return linked


def _in_file(path: Path) -> str:
    """What .env says of the checkout; Dure itself reads the other variables."""
    if not path.is_file():
        return ""
    line = re.search(rf"^\s*(?:export\s+)?{VARIABLE}\s*=\s*(.*?)\s*$", path.read_text(), re.MULTILINE)
    return line[1].strip("'\"") if line else ""


def _is_checkout(folder: Path) -> bool:
    return (folder / "Makefile").is_file() and (folder / "config/dev/up.py").is_file()
