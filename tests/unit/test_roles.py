"""The names of roles."""

import pytest

from dure import task
from dure.roles import is_role


@pytest.mark.parametrize("name", ["FE", "export", "Designer", "gpu.large", "a", "x-1_2.3", "A" * 64])
def test_a_role_may_have_this_name(name):
    assert is_role(name)


NO_ROLES = [
    *("", "1st", "a b", "a,b", "A" * 65, "_x", "설계", "FE\n", "FE\x00", "a/b"),
    *("control", "notices", "celery"),
]


@pytest.mark.parametrize("name", NO_ROLES)
def test_a_role_may_not_have_this_name(name):
    assert not is_role(name)
    with pytest.raises(ValueError, match="not the name of a role"):
        task("roles.example", role=name)(lambda ctx: None)
