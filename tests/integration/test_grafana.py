"""The Grafana dashboard of the documentation: its form, and that each of its metrics is exported."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from jobs import counters
from jobs.models import Counter
from scheduler.models import Minute

pytestmark = pytest.mark.django_db

DASHBOARD: dict[str, Any] = json.loads((Path(settings.BASE_DIR) / "docs/grafana/dure.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def test_the_dashboard_has_the_form_that_grafana_imports():
    assert {"title", "uid", "schemaVersion", "panels", "templating", "time"} <= set(DASHBOARD)
    (source,) = DASHBOARD["templating"]["list"]
    assert (source["name"], source["type"], source["query"]) == ("datasource", "datasource", "prometheus")
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    for panel in PANELS:
        assert panel["type"] in ("stat", "timeseries")
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert all(target["expr"] and target["refId"] for target in panel["targets"])


def test_no_two_panels_overlap_and_all_are_within_the_grid():
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def test_every_metric_and_label_of_the_dashboard_is_exported():
    Minute.objects.create(minute=timezone.now(), done=1, failed=1, wait_ms=1, run_ms=1)
    for name in counters.ALL:
        Counter.objects.get_or_create(name=name)
    Client().get("/healthz")
    text = Client().get("/metrics").content.decode()
    exported = set(re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE))
    for panel in PANELS:
        for target in panel["targets"]:
            for name in re.findall(r"dure_\w+", target["expr"]):
                assert name.removesuffix("_bucket") in exported, (panel["title"], name)
                for label in re.findall(r"{{(\w+)}}", target["legendFormat"]):
                    samples = re.findall(rf"^{name}{{(.*)}} ", text, re.MULTILINE)
                    assert all(f'{label}="' in sample for sample in samples), (name, label)
