"""The health endpoints and the metrics report the real state, to permitted clients."""

from datetime import timedelta

import pytest
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.parser import text_string_to_metric_families

from jobs import metrics
from jobs.models.access import ApiToken
from scheduler import beats
from scheduler.clock import database_now
from scheduler.models import Beat
from tests.integration.rest_support import make_user

pytestmark = pytest.mark.django_db


def test_healthz_queries_nothing(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert Client().get("/healthz").json() == {"status": "alive"}


def test_readyz_reports_each_check_and_its_time():
    response = Client().get("/readyz")
    answer = response.json()
    assert response.status_code == 200, answer
    assert answer["status"] == "ready"
    assert set(answer["checks"]) == {"database", "broker", "migrations", "beat"}
    beat = answer["checks"].pop("beat")
    assert all(check["ok"] and check["ms"] >= 0 for check in answer["checks"].values())
    # Web serves without a beat, and says that none runs.
    assert (answer["degraded"], beat["ok"]) == (["beat"], False)
    assert "schedules" in beat["reason"]


def test_readyz_is_not_degraded_while_a_beat_looks_for_due_work():
    beats.mark_seen("beat@here:1")
    assert Client().get("/readyz").json()["degraded"] == []
    Beat.objects.update(seen_at=database_now() - timedelta(seconds=11))
    assert Client().get("/readyz").json()["degraded"] == ["beat"]


def test_readyz_reports_a_missing_broker(settings):
    settings.CELERY_BROKER_URL = "redis://user:hunter2@127.0.0.1:1/0"
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert response["Retry-After"]
    assert response.json()["missing"] == ["broker"]
    assert response.json()["checks"]["broker"]["reason"] == "does not answer"
    assert b"hunter2" not in response.content


def test_readyz_names_a_migration_that_is_not_applied():
    last = MigrationRecorder.Migration.objects.filter(app="sessions").latest("id")
    last.delete()
    answer = Client().get("/readyz").json()
    assert answer["missing"] == ["migrations"]
    assert "1 not applied: sessions.0001_initial" in answer["checks"]["migrations"]["reason"]


def test_probes_are_answered_under_any_host_and_without_https(settings):
    settings.SECURE_SSL_REDIRECT = True
    for address in ("/healthz", "/readyz", "/metrics"):
        assert Client().get(address, headers={"Host": "10.1.2.3"}).status_code == 200
        assert Client().post(address).status_code == 405


def families(response):
    return {family.name: family for family in text_string_to_metric_families(response.content.decode())}


def test_metrics_include_the_process_and_its_requests():
    Client().get("/api/problems/not_found")
    response = Client().get("/metrics")
    result = families(response)
    assert response["Content-Type"].startswith("text/plain")
    assert "process_resident_memory_bytes" in result
    routes = {sample.labels.get("route", "") for sample in result["dure_http_request_seconds"].samples}
    assert "api/problems/<slug:code>" in routes
    assert not any("not_found" in route for route in routes)


def test_a_failing_collector_loses_only_its_own_metrics(monkeypatch):
    monkeypatch.setattr(metrics, "_collects", {})
    metrics.register("good", lambda: [GaugeMetricFamily("dure_test_good", "Good.", value=3)])

    def broken():
        raise ZeroDivisionError

    metrics.register("broken", broken)
    result = families(Client().get("/metrics"))
    assert result["dure_test_good"].samples[0].value == 3
    up = {sample.labels["collector"]: sample.value for sample in result["dure_collector_up"].samples}
    assert up == {"good": 1, "broken": 0}


def metrics_status(authorization: str = "") -> int:
    return Client().get("/metrics", headers={"Authorization": authorization}).status_code


def test_metrics_in_production_need_the_token_or_a_staff_user(settings):
    settings.PRODUCTION = True
    now = timezone.now()
    _, staff = ApiToken.issue(make_user("admin", is_staff=True), "x", now)
    _, member = ApiToken.issue(make_user("alice"), "x", now)
    assert metrics_status() == 401
    assert metrics_status("Bearer ") == 401
    assert metrics_status(f"Token {member}") == 401
    assert metrics_status(f"Token {staff}") == 200
    settings.DURE_METRICS_TOKEN = "scrape-me"
    assert metrics_status("Bearer scrape-me") == 200
    assert metrics_status("Bearer scrape-you") == 401
    settings.PRODUCTION = False
    assert metrics_status() == 401
