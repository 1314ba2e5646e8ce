"""The garbage collector is off while a program imports its code, and only then."""

import os
import subprocess
import sys

import pytest

SHOWS = "import gc; print(gc.isenabled(), gc.get_freeze_count() > 100_000)"


@pytest.mark.parametrize(
    "start",
    [
        "import django; django.setup()",
        # As workers, beat and Flower do.
        "from config.celery import app; app.loader.import_default_modules()",
    ],
)
def test_a_program_that_has_started_collects_garbage_but_not_what_it_imported(start):
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "-c", f"{start}; {SHOWS}"]
    assert subprocess.check_output(command, env=environment, text=True).split() == ["True", "True"]
