"""`dure login`, `dure logout` and `dure whoami`."""

import getpass
import os
import sys

from dure import login as logins
from dure.cli.arguments import DONE, Options, Parsers, command, command_without_client
from dure.cli.output import write_json, write_list, write_text
from dure.client import Client
from dure.errors import ConfigurationError


def add(parsers: Parsers) -> None:
    parser = command_without_client(
        parsers,
        "login",
        log_in,
        "save a server and a token, which it asks for or reads from its input",
        example="dure login --url https://dure.example",
    )
    parser.add_argument("--url", help=f"the address of the server; default: DURE_URL or {logins.DEFAULT_URL}")
    command_without_client(parsers, "logout", log_out, "forget the saved token")
    command(parsers, "whoami", show, "show the server and the offices that the token may see")


def log_in(options: Options) -> int:
    url = logins.normalize(options.url or os.environ.get("DURE_URL") or logins.DEFAULT_URL)
    token = getpass.getpass(f"Token for {url}: ") if sys.stdin.isatty() else sys.stdin.readline()
    token = logins.checked_token(token)
    with Client(url, token) as client:
        offices = client.offices()
        named = options.office or (offices[0].id if len(offices) == 1 else None)
        office = client.office_id(named) if named else None
    path = logins.save(logins.Login(url, token, office))
    text = f"Signed in to {url}; the token is in {path}."
    if office is None and offices:
        text += "\nYou have several offices: name one with --office, here or at each command."
    return write_text(options, text, {"url": url, "office": office, "file": str(path)})


def log_out(options: Options) -> int:
    logins.login_file().unlink(missing_ok=True)
    text = "The saved token is removed. It stays valid until it is revoked on the server."
    return write_text(options, text, {})


def show(options: Options, client: Client) -> int:
    login = logins.find(office=options.office)
    offices = client.offices()
    try:
        office = client.office_id()
    except ConfigurationError:
        office = None
    if options.json:
        write_json({"url": login.url, "office": office, "offices": [each.raw for each in offices]})
        return DONE
    print(f"server  {login.url}\noffice  {office or '-'}\n")
    return write_list(options, offices, ["id", "name", "role"])
