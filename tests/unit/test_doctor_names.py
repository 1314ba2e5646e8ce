"""Variables whose names nothing reads are told, with the name that was meant; all that are read are known."""

import re
from pathlib import Path

from config.doctor.finding import Level
from config.doctor.names import known_variables, unknown_variables

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTED = re.compile(r"^\| `(DURE_[A-Z0-9_]+)` \|", re.MULTILINE)


def test_a_typo_is_told_with_what_was_meant():
    found = list(
        unknown_variables({"DURE_LEASE_SECOND": "3", "DURE_HOME": "/x", "PATH": "/bin"}, known_variables())
    )
    assert [one.level for one in found] == [Level.WARN]
    assert "DURE_LEASE_SECOND is set" in found[0].found
    assert "DURE_LEASE_SECONDS" in found[0].advice


def test_a_name_that_resembles_none_is_told_all_the_same():
    (found,) = unknown_variables({"DURE_XYZZY_PLUGH": ""}, known_variables())
    assert "docs/configuration.md" in found.advice


def test_values_are_never_told():
    (found,) = unknown_variables({"DURE_SECRET_KYE": "hunter2hunter2"}, known_variables())
    assert "hunter2" not in found.found + found.advice


def test_every_variable_that_is_documented_is_known():
    documented = set(DOCUMENTED.findall((ROOT / "docs" / "configuration.md").read_text()))
    assert len(documented) > 30
    assert documented - known_variables() == set()


def test_what_only_looks_like_one_of_ours_is_nobodys():
    assert [one.level for one in unknown_variables({"XDURE_HOME": "", "dure_home": ""}, set())] == [Level.OK]
