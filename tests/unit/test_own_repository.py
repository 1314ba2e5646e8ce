"""The image and the compose file of examples/own-repository fit Dure's own."""

import json
import re
from typing import Any

import pytest
import yaml

from config.dev import procfile
from tests.unit.test_deployment import REFUSED_WHEN_MISSING, REQUIRED, instructions
from tests.workers import ROOT

EXAMPLE = ROOT / "examples" / "own-repository"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((EXAMPLE / "compose.yaml").read_text()))


@pytest.fixture(scope="module")
def dockerfile() -> list[tuple[str, str]]:
    return instructions(EXAMPLE / "Dockerfile")


def test_the_worker_has_every_value_that_production_requires_and_no_secret_of_its_own(compose):
    environment = compose["services"]["worker"]["environment"]
    for variable in REFUSED_WHEN_MISSING:
        assert REQUIRED.fullmatch(environment[variable]), variable
    dure = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["worker"]["environment"]
    for variable, value in environment.items():
        assert re.sub(r":\?[^}]*", "", value) == re.sub(r":\?[^}]*", "", dure[variable]), variable


def test_the_worker_joins_the_network_of_dure(compose):
    dure = yaml.safe_load((ROOT / "compose.yaml").read_text())
    assert compose["networks"]["default"] == {"name": f"{dure['name']}_default", "external": True}
    assert (
        compose["services"]["worker"]["stop_grace_period"] == dure["services"]["worker"]["stop_grace_period"]
    )


def test_the_worker_is_started_as_dures_own_with_a_role_of_its_own(dockerfile):
    def options(command: str) -> str:
        return re.sub(r" -Q \S+ -n \S+", "", command)

    (command,) = [" ".join(json.loads(rest)) for word, rest in dockerfile if word == "CMD"]
    assert options(command) == options(procfile.read(ROOT / "Procfile")["worker"].command)
    assert " -Q shop " in command
    assert procfile.read(EXAMPLE / "Procfile")["worker"].command == command.replace(" -c 4 ", " -c 2 ")


def test_the_image_ends_as_the_user_of_dures_image_and_copies_what_exists(dockerfile):
    users = [rest for word, rest in dockerfile if word == "USER"]
    dure = re.findall(r"^USER (\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert users == ["root", *dure]
    ignored = (EXAMPLE / ".dockerignore").read_text().splitlines()
    copied = [rest.split()[0] for word, rest in dockerfile if word == "COPY"]
    assert copied
    for source in copied:
        assert (EXAMPLE / source).exists()
        assert f"!{source}" in ignored
