"""The doctor reports unknown variables with the probable name."""

import re

from django.core.checks import INFO, WARNING

from config.diagnostics.environment import check_variables, known_variables
from tests.workers import ROOT

DOCUMENTED = re.compile(r"^\| `(DURE_[A-Z0-9_]+)` \|", re.MULTILINE)


def test_a_typo_is_reported_with_the_probable_name():
    environment = {"DURE_LEASE_SECOND": "3", "DURE_HOME": "/x", "PATH": "/bin"}
    (message,) = check_variables(environment, known_variables())
    assert message.level == WARNING
    assert "DURE_LEASE_SECOND is set" in message.msg
    assert "DURE_LEASE_SECONDS" in message.hint


def test_a_name_that_resembles_no_setting_is_reported():
    (message,) = check_variables({"DURE_XYZZY_PLUGH": ""}, known_variables())
    assert "docs/configuration.md" in message.hint


def test_the_values_of_variables_are_never_shown():
    (message,) = check_variables({"DURE_SECRET_KYE": "hunter2hunter2"}, known_variables())
    assert "hunter2" not in message.msg + message.hint


def test_every_documented_variable_is_known():
    documented = set(DOCUMENTED.findall((ROOT / "docs" / "configuration.md").read_text()))
    assert len(documented) > 30
    assert documented - known_variables() == set()


def test_a_variable_with_another_prefix_is_ignored():
    assert [message.level for message in check_variables({"XDURE_HOME": "", "dure_home": ""}, set())] == [
        INFO
    ]
