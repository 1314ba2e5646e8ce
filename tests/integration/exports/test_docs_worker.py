"""The foreign worker of docs/exports.md does what the page says."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from exports import lifecycle, streams
from exports.messages import REQUESTS
from exports.states import Status
from tests.integration import export_tools as tools
from tests.integration.exports.outcomes import after

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker(redis, monkeypatch) -> Iterator[dict[str, Any]]:
    page = (Path(settings.BASE_DIR) / "docs" / "exports.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.setenv("REDIS_URL", settings.REDIS_URL)
    names: dict[str, Any] = {"render": lambda path, kind: [(50, b"fi"), (100, b"lm")]}
    exec(code.partition("while True:")[0], names)
    yield names
    names["redis"].close()


def requests(redis) -> list[dict[str, str]]:
    return [
        {name.decode(): value.decode() for name, value in row.items()} for _, row in redis.xrange(REQUESTS)
    ]


def test_the_worker_of_the_page_completes_an_export(redis, minji, worker) -> None:
    job, listener = tools.export_of(minji), tools.listen(redis)
    tools.drain(listener)
    worker["work"](*requests(redis))
    tools.drain(listener)
    assert (after(job).status, after(job).result_size) == (Status.SUCCEEDED, 4)
    (file,) = settings.DURE_EXPORT_PATH.joinpath(*job.folder).iterdir()
    assert file.name == job.output[-1]
    assert redis.xinfo_groups(REQUESTS)[0]["name"].decode() == streams.WORKERS


def test_the_worker_of_the_page_stops_after_a_cancel(redis, minji, worker) -> None:
    job, listener = tools.export_of(minji), tools.listen(redis)
    tools.drain(listener)
    lifecycle.cancel(job.pk, timezone.now())
    tools.drain(listener)
    worker["work"](*requests(redis))
    tools.drain(listener)
    assert after(job).status == Status.CANCELLED
    assert not list(settings.DURE_EXPORT_PATH.joinpath(*job.folder).iterdir())
