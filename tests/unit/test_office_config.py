"""JobSchedulerConfig: its settings, and how changes are merged."""

import jsonschema
import pytest

from jobs import office_config
from jobs.errors import Invalid
from jobs.models import Office


def settings(**changes):
    return office_config.merge(office_config.config_of(Office()), changes)


def refused(**changes):
    with pytest.raises(Invalid) as caught:
        office_config.validate_config(settings(**changes))
    return caught.value.errors_in_english()


def test_the_default_settings_are_valid():
    checked = office_config.validate_config(settings())
    assert checked.model_dump(by_alias=True) == office_config.config_of(Office())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("maxConcurrentJobs", 0),
        ("maxConcurrentJobs", -1),
        ("maxConcurrentJobs", "3"),
        ("maxConcurrentJobs", 3.5),
        ("maxConcurrentJobs", True),
        ("maxConcurrentJobs", None),
        ("maxConcurrentJobs", 10**9),
        ("maxConcurrentByRole", []),
        ("defaultTimeout", 0),
        ("defaultTimeout", 2**31),
        ("maxRetries", -1),
        ("maxRetries", 101),
        ("retryBackoff", "random"),
        ("retryBaseDelay", -1),
        ("retryableFailures", "timeout"),
        ("paused", "yes"),
    ],
)
def test_an_invalid_setting_is_named(name, value):
    assert list(refused(**{name: value})) == [name]


def test_an_unknown_setting_is_rejected():
    assert refused(maxJobs=3) == {"maxJobs": ["There is no such setting."]}
    assert list(refused(max_concurrent_jobs=3)) == ["max_concurrent_jobs"]


def test_any_role_may_have_a_limit_and_a_time_limit():
    merged = settings(maxConcurrentByRole={"Designer": 2}, defaultTimeoutByRole={"gpu.large": 60_000})
    checked = office_config.validate_config(merged)
    assert checked.max_concurrent_by_role["Designer"] == 2
    assert checked.default_timeout_by_role["gpu.large"] == 60_000


def test_a_name_that_is_no_role_and_an_invalid_limit_have_their_path():
    assert list(refused(maxConcurrentByRole={"a b": 1})) == ["maxConcurrentByRole.a b"]
    assert list(refused(maxConcurrentByRole={"control": None})) == ["maxConcurrentByRole.control"]
    assert list(refused(maxConcurrentByRole={f"r{n}": 1 for n in range(201)})) == ["maxConcurrentByRole"]
    assert list(refused(maxConcurrentByRole={"FE": -1})) == ["maxConcurrentByRole.FE"]
    assert list(refused(defaultTimeoutByRole={"FE": 0})) == ["defaultTimeoutByRole.FE"]


@pytest.mark.parametrize(
    ("role", "valid"),
    [("Designer", True), ("gpu.large", True), ("a b", False), ("·eº", False), ("celery", False)],
)
def test_the_schema_of_a_change_allows_the_names_of_roles_only(role, valid):
    schema = jsonschema.Draft202012Validator(office_config.patch_schema())
    for name in office_config.JobSchedulerConfig.maps:
        assert schema.is_valid({name: {role: 1}}) is valid


def test_only_retryable_failure_types_are_accepted():
    assert list(refused(retryableFailures=["git_conflict"])) == ["retryableFailures.0"]
    checked = office_config.validate_config(settings(retryableFailures=["error", "timeout", "error"]))
    assert checked.retryable_failures == ["error", "timeout"]


def test_maps_merge_by_role_and_null_removes_a_role():
    merged = settings(maxConcurrentByRole={"FE": 3, "QA": None, "PO": None})
    assert merged["maxConcurrentByRole"] == {"FE": 3, "BE": 1, "DevOps": 1}
    assert office_config.validate_config(merged).max_concurrent_by_role == {"FE": 3, "BE": 1, "DevOps": 1}


def test_a_null_empties_a_map():
    assert settings(maxConcurrentByRole=None)["maxConcurrentByRole"] == {}


def test_omitted_settings_are_unchanged():
    before = office_config.config_of(Office())
    assert settings(paused=True) == {**before, "paused": True}
