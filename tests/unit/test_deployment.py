"""The image and the Compose file, checked without a container engine."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.dev import procfile
from tests.workers import ROOT

SERVERS = {"postgres", "redis"}
REQUIRED = re.compile(r"\$\{(\w+):\?[^}]+\}")
REFUSED_WHEN_MISSING = ("DURE_SECRET_KEY", "DURE_ALLOWED_HOSTS", "FLOWER_BASIC_AUTH")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "compose.yaml").read_text()))


@pytest.fixture(scope="module")
def ours(compose) -> dict[str, Any]:
    return {name: service for name, service in compose["services"].items() if name not in SERVERS}


def instructions(path: Path = ROOT / "Dockerfile") -> list[tuple[str, str]]:
    text = re.sub(r"\\\n\s*", "", path.read_text())
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    # HEALTHCHECK's CMD stands on a line of its own only in the source.
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def stages() -> list[list[tuple[str, str]]]:
    result: list[list[tuple[str, str]]] = []
    for word, rest in instructions():
        if word == "FROM":
            result.append([])
        if result:
            result[-1].append((word, rest))
    return result


def last_stage(word: str) -> list[str]:
    return [rest for name, rest in stages()[-1] if name == word]


# --- compose.yaml --------------------------------------------------------------------------------


def test_every_program_of_the_procfile_is_a_service_with_the_same_command(ours):
    programs = procfile.read(ROOT / "Procfile")
    programs["migrate"] = programs.pop(procfile.RELEASE)
    expected = {name: program.arguments for name, program in programs.items()}
    actual = {
        name: [part.replace("$$", "$") for part in service["command"]] for name, service in ours.items()
    }
    assert actual == expected


def test_no_variable_of_a_command_is_filled_in_by_compose_itself(ours):
    for name, service in ours.items():
        assert re.sub(r"\$\$", "", " ".join(service["command"])).count("$") == 0, name


def test_every_service_except_the_migrations_waits_for_them(ours):
    waits = {
        name: service["depends_on"].get("migrate", {}).get("condition") for name, service in ours.items()
    }
    assert waits.pop("migrate") is None
    assert set(waits.values()) == {"service_completed_successfully"}
    assert ours["migrate"]["entrypoint"] == []
    assert ours["migrate"]["restart"] == "no"
    assert not [name for name, service in ours.items() if name != "migrate" and "entrypoint" in service]


def test_every_service_waits_until_the_servers_answer(compose, ours):
    for name, service in ours.items():
        for server in SERVERS:
            assert service["depends_on"][server] == {"condition": "service_healthy"}, name
    assert all("test" in compose["services"][server]["healthcheck"] for server in SERVERS)


def test_variables_that_production_requires_have_no_default(ours):
    for name, service in ours.items():
        for variable in REFUSED_WHEN_MISSING:
            assert REQUIRED.fullmatch(service["environment"][variable]), (name, variable)


def test_no_secret_has_a_default_or_is_written_down(compose):
    text = (ROOT / "compose.yaml").read_text()
    for variable, default in re.findall(r"(?<!\$)\$\{(\w+):-([^}]*)\}", text):
        assert not (default and re.search("PASSWORD|SECRET|AUTH|KEY|TOKEN", variable)), variable
    assert {"POSTGRES_PASSWORD", "REDIS_PASSWORD"} <= set(REQUIRED.findall(text))
    for service in compose["services"].values():
        for variable, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET|AUTH|KEY|TOKEN|_URL$", variable):
                assert "${" in value, variable


def test_redis_keeps_its_data_and_refuses_rather_than_drops(compose):
    content = compose["configs"]["redis"]["content"].splitlines()
    assert {"appendonly yes", "maxmemory-policy noeviction"} <= set(content)
    assert "redis:/data" in compose["services"]["redis"]["volumes"]


def test_only_the_loopback_address_is_published(compose):
    published = [port for service in compose["services"].values() for port in service.get("ports", ())]
    assert len(published) == 2
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_a_stop_is_given_longer_than_a_worker_drains(ours):
    for name, service in ours.items():
        assert int(service["stop_grace_period"].removesuffix("s")) > 10, name


def test_every_named_volume_is_declared(compose):
    used = {volume.split(":")[0] for service in compose["services"].values() for volume in service["volumes"]}
    assert used == set(compose["volumes"])


def test_the_example_names_every_variable_of_the_compose_file_and_gives_no_secret(compose):
    lines = (ROOT / ".env.example").read_text().splitlines()
    example = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    variables = set(re.findall(r"(?<!\$)\$\{(\w+):[?-]", (ROOT / "compose.yaml").read_text()))
    optional = {"DURE_IMAGE", "DURE_TRUSTED_ORIGINS", "DURE_LOG_LEVEL"}
    assert variables - optional == set(example)
    assert {name for name, value in example.items() if value} == {"DURE_PROXIES", "PORT", "FLOWER_PORT"}


# --- Dockerfile ----------------------------------------------------------------------------------


def test_the_last_stage_of_the_image_has_no_pip_cache_and_no_package_sources():
    assert len(stages()) > 1
    assert all(rest.startswith("--from=") for rest in last_stage("COPY"))
    assert not [run for run in last_stage("RUN") if "pip" in run]


def test_only_locked_packages_with_hashes_go_into_the_image_and_no_embedded_servers():
    installs = [rest for word, rest in instructions() if word == "RUN" and "pip install" in rest]
    assert len(installs) == 1
    assert "--require-hashes" in installs[0]
    assert re.findall(r"-r (\S+)", installs[0]) == ["requirements.txt"]
    assert "embedded" not in " ".join(rest for word, rest in instructions() if word in ("COPY", "RUN"))


def test_the_image_does_not_run_as_root():
    words = [word for word, _ in stages()[-1]]
    (user,) = last_stage("USER")
    assert all(int(number) > 0 for number in user.split(":"))
    assert words.index("USER") > max(index for index, word in enumerate(words) if word in ("RUN", "COPY"))


def test_every_source_that_is_copied_exists_and_is_let_through():
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in ignored
    sources = [
        source
        for word, rest in instructions()
        if word == "COPY" and not rest.startswith("--from")
        for source in rest.split()[:-1]
    ]
    assert sources
    for source in sources:
        assert (ROOT / source).exists(), source
        assert f"!{source}" in ignored, source


def test_every_app_of_ours_is_in_the_image():
    apps = {path.parent.name for path in ROOT.glob("*/apps.py")} | {"config"}
    copied = {rest.split()[0] for word, rest in instructions() if word == "COPY"}
    assert apps <= copied


def test_the_image_runs_the_web_process_and_waits_for_the_migrations_first():
    (entrypoint,) = last_stage("ENTRYPOINT")
    (command,) = last_stage("CMD")
    assert json.loads(entrypoint) == ["python", "manage.py", "wait_for_migrations", "--"]
    assert " ".join(json.loads(command)) == procfile.read(ROOT / "Procfile")["web"].command


def test_the_image_asks_after_its_own_health():
    (check,) = last_stage("HEALTHCHECK")
    program = json.loads(check[check.index("[") :])[2]
    compile(program, "HEALTHCHECK", "exec")
    assert "/healthz" in program


def test_the_image_is_for_production_and_makes_the_static_files_at_its_build():
    (environment,) = last_stage("ENV")
    # Without the latter a worker's stop would take as long as its longest run.
    assert {"DURE_ENV=production", "REMAP_SIGTERM=SIGQUIT"} <= set(environment.split())
    assert any("collectstatic --no-input" in rest for word, rest in instructions() if word == "RUN")
