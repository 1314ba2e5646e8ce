"""The catalogue names the installed package of a Task, and finds it without reading every package's files."""

from importlib import metadata

import pytest
from django.conf import settings

from jobs.worker.catalogue import package_of


@pytest.mark.parametrize(
    ("module", "package"),
    [
        pytest.param("celery", "celery", id="a folder"),
        pytest.param("yaml", "PyYAML", id="another name than its package"),
        pytest.param("six", "six", id="a single file"),
    ],
)
def test_a_module_is_found_in_its_package(module, package):
    assert package_of(module) == (package, metadata.version(package))


def test_a_module_of_no_package_has_none():
    assert package_of("manage") == ("", "")


def test_dure_is_a_package_without_being_installed():
    assert package_of("jobs") == ("Dure", settings.SPECTACULAR_SETTINGS["VERSION"])


def test_the_package_of_a_module_is_the_one_that_the_standard_library_names():
    packages = {
        name: owners for name, owners in metadata.packages_distributions().items() if name.isidentifier()
    }
    assert {name for name, owners in packages.items() if package_of(name)[0] not in owners} == set()
