"""Two tenants, and no limits on requests."""

import pytest

from tests.integration import export_tools
from tests.integration.security.tenants import Tenant


@pytest.fixture(autouse=True)
def no_limits(settings, tmp_path) -> None:
    rates = dict.fromkeys(settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"], "off")
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": rates}
    export_tools.roots(settings, tmp_path)


@pytest.fixture
def ours(db) -> Tenant:
    return Tenant("ours")


@pytest.fixture
def theirs(db) -> Tenant:
    return Tenant("theirs")
